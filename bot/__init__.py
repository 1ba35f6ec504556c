"""Kirim: send rupiah from a chat."""

__version__ = "0.1.0"

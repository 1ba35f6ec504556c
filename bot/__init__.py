"""Kirim: send rupiah from a chat."""

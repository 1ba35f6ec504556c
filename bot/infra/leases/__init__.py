"""Leases: which process works in a chat, and which one leads."""

"""Tickets: their services and their tables."""

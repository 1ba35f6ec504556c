"""Calls of the Bot API: parsing, limits, faults and answers."""

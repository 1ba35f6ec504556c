"""Notifications about tickets: cards, messages to staff and users, and what follows from their results."""

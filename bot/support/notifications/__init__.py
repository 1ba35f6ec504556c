"""Notifications about tickets: their kinds, the rows of the outbox, and the messages to staff and users."""

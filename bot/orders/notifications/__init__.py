"""Notifications about orders: their kinds, the rows of the outbox, and the messages."""

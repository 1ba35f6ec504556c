"""Tickets and `/help` in users' chats."""

"""Support: tickets, the chat of staff, lookups and saved replies."""

"""Tickets: open, answer, relay, correct and close them."""

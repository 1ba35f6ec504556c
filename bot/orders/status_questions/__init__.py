"""Answers to users who ask about an order in their own words, paste an invoice, or send a picture."""

"""Receipts of orders that were sent, and how anyone checks them."""

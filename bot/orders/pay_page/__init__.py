"""The bot's own web server: the payment page of each order, the check of receipts, and `/healthz`.

It only reads orders. Anyone who knows the address of a page can see its invoice and amount, but neither the recipient,
the user nor the reference. When the rupiah were sent, the page is the order's receipt, with what every receipt shows.
"""

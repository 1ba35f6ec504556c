"""The bot's own web server: the payment page of each invoice, and `/healthz`.

It only reads orders. Who knows the address of a page can see its invoice and its amount, but no recipient, no user and
no reference.
"""

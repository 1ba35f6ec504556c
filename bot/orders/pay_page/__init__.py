"""The bot's own web server: the wallet page of each invoice, and `/healthz`.

It reads orders and changes none. Whoever knows a page's address may see its invoice and its amount, and nothing else:
no recipient, no person, no reference stands there.
"""

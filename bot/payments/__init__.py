"""Payment requests: BOLT11 invoices, ERC-681 transfers, and their QR codes.

The bot and the sandbox's service both use this package. The bot must not show a wrong invoice, and the sandbox issues
real ones. `bolt11` reads, checks and writes invoices. `erc681` checks deposit instructions and writes a transfer
request. `qr` draws both.
"""

"""How a payer pays: BOLT11 invoices, ERC-681 transfers, and the QR codes that carry them.

The package stands alone: both the bot, which must not show a wrong invoice, and the sandbox's service, which
issues real ones, are built on it. `bolt11` reads, checks and writes invoices, `erc681` checks on-chain deposit
instructions and turns them into a transfer request, `qr` draws either.
"""

"""Banks, e-wallets, account numbers and saved recipients."""

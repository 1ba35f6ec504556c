"""Everything Telegram: what people meet, and how it gets to them."""

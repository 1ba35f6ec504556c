"""Orders: place and follow them, show them, and give receipts."""

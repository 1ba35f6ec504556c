"""Drawing of receipts and charts. Each function takes facts and returns a PNG."""

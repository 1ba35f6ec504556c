"""The questions of a draft that becomes a payment request, where they differ from those of an order."""

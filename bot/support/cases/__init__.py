"""Cases: all that support sees of an order and its user."""

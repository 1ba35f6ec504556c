"""Create an order exactly once, and find one whose answer was lost."""

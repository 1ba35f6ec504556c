"""A ticket in its user's chat."""

"""Messages about a draft, and what the screens of the steps share."""

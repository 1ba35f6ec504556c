"""What is sent to support: a ticket's card, and the lines under it."""

"""What the people on the chat page do."""

"""Messages that are saved with what they report, and sent after that."""

"""To Telegram: messages, files and topics within its limits."""

"""The bot's own web server."""

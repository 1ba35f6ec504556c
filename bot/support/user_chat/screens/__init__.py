"""The screens of tickets and of `/help` for users."""

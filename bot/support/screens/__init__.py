"""The screens of tickets, for support and for users."""

"""The screens of tickets for support agents."""

"""The screens of payment requests."""

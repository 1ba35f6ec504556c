"""The screens of lookups."""

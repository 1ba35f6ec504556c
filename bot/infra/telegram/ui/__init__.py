"""Screens, buttons, commands and typed questions."""

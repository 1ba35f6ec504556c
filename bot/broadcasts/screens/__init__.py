"""Screens of broadcasts, for operators."""

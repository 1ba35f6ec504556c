"""Saved replies to tickets."""

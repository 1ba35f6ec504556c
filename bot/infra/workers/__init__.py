"""Thin loops around the use cases: each does one thing over and over, survives its failures and stops at once."""

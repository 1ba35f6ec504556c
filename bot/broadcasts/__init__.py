"""Broadcasts of operators: compose, schedule, run and follow them."""

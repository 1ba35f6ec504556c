"""Look up orders, users and tickets."""

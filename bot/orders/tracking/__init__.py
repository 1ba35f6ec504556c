"""Follow orders at the service within the request budget."""

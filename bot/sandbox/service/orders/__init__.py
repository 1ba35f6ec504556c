"""Orders of the service, from creation to their end."""

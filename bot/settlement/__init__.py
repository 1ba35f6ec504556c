"""The settlement service: its values, the client, the service's health, and the list of destinations."""

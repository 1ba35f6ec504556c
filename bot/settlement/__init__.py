"""The settlement service: its values, its client, its health, and the list of destinations."""

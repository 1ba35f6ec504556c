"""Users: their settings, phrase, privacy, export and deletion."""

"""What users see of their settings, phrase and privacy."""

"""What users see on the way to the review."""

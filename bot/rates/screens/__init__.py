"""What users see of the rate."""

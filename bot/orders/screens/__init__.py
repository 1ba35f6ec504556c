"""What users see of orders."""

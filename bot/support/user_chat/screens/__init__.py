"""What users see of their ticket."""

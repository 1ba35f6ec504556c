"""What users see of receipts."""

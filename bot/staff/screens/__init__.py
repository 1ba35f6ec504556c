"""What staff see of alarms and of the audit log."""

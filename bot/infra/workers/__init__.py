"""The loops that run periodic work. Each has one job, survives failures and stops at once."""

"""Staff: operators and support agents, alarms, and the audit log."""

"""Operators and support agents: roles, alarms and the audit log."""

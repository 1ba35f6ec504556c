"""Screens of alarms and of the audit log."""

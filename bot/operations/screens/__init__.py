"""Screens of the status, the statistics and the export."""

"""Broadcasts: operators write, schedule and send messages to subscribers, and follow their progress."""

"""From Telegram: updates, their queues for each chat, and the limit for each user."""

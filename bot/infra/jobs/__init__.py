"""Jobs: work that is due in a chat, besides its updates and notifications."""

"""The steps of the conversation: each shows its question and takes its answers."""

"""What each step of the conversation asks, and who takes its answers."""

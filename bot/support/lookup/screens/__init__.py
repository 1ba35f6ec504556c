"""What support agents see of what they look up."""

"""What support agents see of tickets."""

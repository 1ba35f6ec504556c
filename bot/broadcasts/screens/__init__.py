"""What operators see of broadcasts."""

"""Orders of the service: creation, payment and the states that follow."""

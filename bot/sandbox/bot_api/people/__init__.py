"""Actions of the sandbox's users, and the API for them."""

"""Show a full recipient to a support agent for one minute."""

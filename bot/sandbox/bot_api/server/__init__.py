"""How calls of the Bot API arrive, fail and are answered."""

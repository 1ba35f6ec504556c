"""How payouts to each destination are doing: how long they take, how many fail, and what is unusual right now."""

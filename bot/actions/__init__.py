"""The use cases: the only writers of orders and of the outbox."""

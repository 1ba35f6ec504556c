"""Alembic's entry: runs the migrations on the connection, and within the transaction, that it is handed."""

from alembic import context

from bot.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()

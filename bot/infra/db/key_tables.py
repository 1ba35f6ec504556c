"""The table that every process checks before it works: the keys that the database needs."""

from sqlalchemy import Column, Table, Text

from bot.infra.db.metadata import metadata

# The names of all keys that sealed a row. The database can't be used without them.
sealing_keys = Table("sealing_keys", metadata, Column("name", Text, primary_key=True))

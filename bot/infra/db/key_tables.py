"""The tables that every process checks before it works: the keys that the database needs, and the programs it suits."""

from sqlalchemy import Column, Table, Text

from bot.infra.db.metadata import metadata

# The names of all keys that sealed a row. The database can't be used without them.
sealing_keys = Table("sealing_keys", metadata, Column("name", Text, primary_key=True))

# The revisions of all programs that can use the tables. A migration that takes something away deletes the older ones.
compatible_revisions = Table("compatible_revisions", metadata, Column("revision", Text, primary_key=True))

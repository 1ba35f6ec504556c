"""The keys of sealed texts."""

from sqlalchemy import Column, Table, Text

from bot.infra.db.metadata import metadata

# Which keys have sealed something here: the database can't be used without all of them.
sealing_keys = Table("sealing_keys", metadata, Column("name", Text, primary_key=True))

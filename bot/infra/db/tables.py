"""The tables of the processes that work on the database: their leases, their records and the keys that they need."""

from sqlalchemy import BigInteger, Column, Table, Text

from bot.infra.db.columns import TRANSIENT, BigId, Instant, Json, metadata, not_exported

# A lease ends by itself unless its owner keeps it. SQLite has none, because one process works there.
chat_leases = Table(
    "chat_leases",
    metadata,
    # 0 is the lead. The row is deleted some seconds after the last work in the chat.
    Column("chat_id", BigId, primary_key=True, autoincrement=False, info=TRANSIENT),
    # The random id of the process, which it gets when it starts. Log lines have it, too.
    Column("owner", Text, nullable=False),
    Column("expires_at", Instant, nullable=False),
    # Grows with each claim, so that an owner that lost the chat and got it again knows its old work from its new.
    Column("epoch", BigInteger, nullable=False),
    info=not_exported("which process works in the chat at the moment"),
)

# Every process that works on PostgreSQL, with its version and its encryption keys. A record of a dead one expires.
processes = Table(
    "processes",
    metadata,
    Column("owner", Text, primary_key=True),
    # The revision of the tables that its program expects.
    Column("revision", Text, nullable=False),
    # The names of its keys. The first one seals.
    Column("key_names", Json, nullable=False),
    Column("expires_at", Instant, nullable=False),
)

# The names of all keys that sealed a row. The database can't be used without them.
sealing_keys = Table("sealing_keys", metadata, Column("name", Text, primary_key=True))

"""The tables of leases. A lease is a row with its owner, which ends by itself unless its owner keeps it."""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, Table, Text

from bot.infra.db.columns import TRANSIENT, BigId, Instant, Json, not_exported
from bot.infra.db.metadata import metadata

LEADER: Final = 1
"""The id of the only row of `leader_lease`."""

chat_leases = Table(
    "chat_leases",
    metadata,
    # The row is deleted some seconds after the last work in the chat.
    Column("chat_id", BigId, primary_key=True, autoincrement=False, info=TRANSIENT),
    # The random id of the process, which it gets when it starts. Log lines have it, too.
    Column("owner", Text, nullable=False),
    Column("expires_at", Instant, nullable=False),
    # Grows with each claim, so that an owner that lost the chat and got it again knows its old work from its new.
    Column("epoch", BigInteger, nullable=False),
    info=not_exported("which process works in the chat at the moment"),
)

# Every process that works on PostgreSQL, with the encryption keys that it knows. A record of a dead one expires.
processes = Table(
    "processes",
    metadata,
    Column("owner", Text, primary_key=True),
    # The names of the keys. The first one seals.
    Column("key_names", Json, nullable=False),
    Column("expires_at", Instant, nullable=False),
)

leader_lease = Table(
    "leader_lease",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("owner", Text, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("epoch", BigInteger, nullable=False),
)

"""The table of saved recipients."""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from bot.infra.db.columns import OWNER, SEALED, Instant, Json, digest, metadata, pruned

recipients = Table(
    "recipients",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_id", BigInteger, nullable=False, info=OWNER),
    Column("method", Json, nullable=False),
    Column("number", Text, nullable=False, info=SEALED),
    Column("holder", Text, info=SEALED),
    Column("label", Text, info=SEALED),
    Column("created_at", Instant, nullable=False),
    Column("last_used_at", Instant, nullable=False, info=pruned()),
    # Seals the user and the bank, so that neither can be swapped.
    Column("payout_seal", Text, info=digest(covers=("user_id", "method"), while_any=("number", "method"))),
    Index(None, "user_id", "last_used_at"),
    Index(None, "last_used_at"),
)

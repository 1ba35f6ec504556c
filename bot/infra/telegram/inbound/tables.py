"""The table of received updates."""

from sqlalchemy import BigInteger, Column, Integer, Table, Text

from bot.infra.db.columns import SEALED, USER, BigId, Instant, not_exported, partial_index
from bot.infra.db.metadata import metadata

inbox = Table(
    "inbox",
    metadata,
    # Telegram sends an update again until it is acknowledged. Its id shows that it is the same one.
    Column("update_id", BigId, primary_key=True, autoincrement=False),
    Column("chat_id", BigInteger, nullable=False, info=USER),
    Column("body", Text, nullable=False, info=SEALED),
    Column("received_at", Instant, nullable=False),
    Column("attempts", Integer, nullable=False),
    # What the update changed, set in the same transaction. Handled again, it changes nothing there.
    Column("handled_by", Text),
    Column("finished_at", Instant),
    # The bot and the server that count the id.
    Column("source", Text, nullable=False),
    info=not_exported("updates as Telegram sent them, until they are handled; their effects are exported"),
)


IS_UNFINISHED = inbox.c.finished_at.is_(None)


partial_index("ix_inbox_unfinished", inbox.c.chat_id, inbox.c.update_id, where=IS_UNFINISHED)


IS_FINISHED = inbox.c.finished_at.is_not(None)


partial_index("ix_inbox_finished_at", inbox.c.finished_at, where=IS_FINISHED)

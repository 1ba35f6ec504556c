"""The table of what waits for its turn in a chat: received updates, and jobs."""

from typing import Final

from sqlalchemy import BigInteger, Column, ColumnElement, FromClause, Integer, Table, Text, case

from bot.infra.db.columns import (
    OWNER,
    SEALED,
    BigId,
    Instant,
    constant,
    metadata,
    not_exported,
    partial_index,
    stays,
)

UPDATE: Final = "update"
"""The kind of updates. The other kinds are those of the features' jobs."""


def _is_finished(item: FromClause) -> ColumnElement[bool]:
    return item.c.finished_at.is_not(None)


inbox = Table(
    "inbox",
    metadata,
    # An update has Telegram's id, because Telegram sends it again until it is acknowledged. A job has a negative one,
    # derived from what it is about (`InboxItem.job`), so one that waits isn't added again.
    Column("id", BigId, primary_key=True, autoincrement=False),
    Column("chat_id", BigInteger, nullable=False, info=OWNER),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False, info=SEALED),
    Column("received_at", Instant, nullable=False),
    Column("attempts", Integer, nullable=False),
    # What the update changed, set in the same transaction. Handled again, it changes nothing there.
    Column("handled_by", Text),
    Column("finished_at", Instant),
    # The bot and the server that count the id of an update.
    Column("source", Text, nullable=False),
    info={
        **not_exported("updates as Telegram sent them, until they are handled; their effects are exported"),
        **stays("Telegram can send an update again, and it is handled once", where=_is_finished),
    },
)


IS_UNFINISHED = inbox.c.finished_at.is_(None)
JOBS_LAST = case((inbox.c.kind == constant(UPDATE), 0), else_=1)


partial_index("ix_inbox_unfinished", inbox.c.chat_id, inbox.c.id, where=IS_UNFINISHED)


IS_FINISHED = _is_finished(inbox)


partial_index("ix_inbox_finished_at", inbox.c.finished_at, where=IS_FINISHED)

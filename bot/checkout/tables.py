"""Drafts, open and closed."""

from datetime import timedelta

from sqlalchemy import BigInteger, Boolean, Column, ColumnElement, FromClause, Index, Integer, Table, Text, exists

from bot.checkout.draft import DraftStatus
from bot.infra.db.columns import (
    INTERNAL,
    JSON_TEXT,
    OWNER,
    SEALED,
    USER,
    Instant,
    Json,
    constant,
    digest,
    metadata,
    partial_index,
    pruned,
)


def is_open(draft: FromClause) -> ColumnElement[bool]:
    """Return the condition of the partial indexes of drafts, word for word."""
    return draft.c.status == constant(DraftStatus.OPEN)


def _is_closed(draft: FromClause) -> ColumnElement[bool]:
    return draft.c.status != constant(DraftStatus.OPEN)


# A closed draft can be resumed for two days, and its buttons show what happened to it.
_CLOSED = pruned(timedelta(hours=48), where=_is_closed)

drafts = Table(
    "drafts",
    metadata,
    Column("id", Text, primary_key=True, info=INTERNAL),
    Column("chat_id", BigInteger, nullable=False, info=USER),
    Column("user_id", BigInteger, nullable=False, info=OWNER),
    Column("step", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("revision", Integer, nullable=False, info=INTERNAL),
    Column("method", Json),
    Column("number", Text, info=SEALED),
    Column("doubtful_number", Text, info=SEALED),
    Column("holder", Text, info=SEALED),
    Column("holder_asked", Boolean, nullable=False, info=INTERNAL),
    Column("amount", Json),
    Column("channel", Text, nullable=False),
    Column("quote", Json),
    Column("message_id", BigInteger, info=INTERNAL),
    Column("last_update_id", BigInteger, nullable=False, info=INTERNAL),
    Column("expires_at", Instant, nullable=False, info=_CLOSED),
    # What a payment request says besides its recipient and its amount. An order has none.
    Column("terms", Text, info={**SEALED, **JSON_TEXT}),
    # Why an answer was refused last, without anything that was typed.
    Column("refusal", Json),
    # What the review shows. Buttons carry the revision, so the answers of an earlier revision can't be restored either.
    Column(
        "payout_seal",
        Text,
        info=digest(
            covers=(
                "user_id",
                "chat_id",
                "revision",
                "method",
                "number",
                "doubtful_number",
                "holder",
                "amount",
                "channel",
                "quote",
            ),
            while_any=("method", "number", "doubtful_number", "holder", "amount", "quote"),
        ),
    ),
)

IS_OPEN_DRAFT = is_open(drafts)
_other = drafts.alias("other")
# A resumed draft must not become the second open draft of its chat.
IS_ONLY_OPEN_DRAFT = ~exists().where(is_open(_other), _other.c.chat_id == drafts.c.chat_id, _other.c.id != drafts.c.id)
# One open draft a chat: two updates handled at once, or by two processes, can't begin two.
partial_index("uq_drafts_open_chat", drafts.c.chat_id, where=IS_OPEN_DRAFT, unique=True)
partial_index("ix_drafts_open_expires_at", drafts.c.expires_at, where=IS_OPEN_DRAFT)
IS_CLOSED_DRAFT = _is_closed(drafts)
partial_index("ix_drafts_closed_expires_at", drafts.c.expires_at, where=IS_CLOSED_DRAFT)
Index("ix_drafts_user_id", drafts.c.user_id)

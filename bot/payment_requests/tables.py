"""The tables of payment requests, and of payers' reports about them."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Table, Text

from bot.infra.db.columns import (
    INTERNAL,
    OWNER,
    SEALED,
    BigId,
    Instant,
    Json,
    constant,
    digest,
    metadata,
    not_exported,
    partial_index,
    pruned,
)
from bot.payment_requests.model import RequestStatus

payment_requests = Table(
    "payment_requests",
    metadata,
    Column("id", Text, primary_key=True, info=INTERNAL),
    Column("user_id", BigInteger, nullable=False, info=OWNER),
    # Links are searched by a hash, so that who reads the table can't open one.
    Column("token_hash", Text, nullable=False, info=INTERNAL),
    Column("token", Text, nullable=False, info=SEALED),
    Column("method", Json, nullable=False),
    Column("number", Text, nullable=False, info=SEALED),
    Column("holder", Text, nullable=False, info=SEALED),
    Column("idr", BigInteger),
    Column("note", Text, info=SEALED),
    Column("is_reusable", Boolean, nullable=False),
    Column("ends_at", Instant),
    Column("status", Text, nullable=False),
    Column("closed_by", Text),
    Column("in_browsers", Boolean, nullable=False),
    Column("draft_id", Text, nullable=False, info=INTERNAL),
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant, nullable=False, info=pruned()),
    # Telegram's ids of the messages in which it was shared. NULL: Telegram has never told of one.
    Column("shared", Text, info={**SEALED, **INTERNAL}),
    # What payers confirm and where their rupiah go: none of it can be exchanged for that of another row.
    Column(
        "payout_seal",
        Text,
        info=digest(
            covers=("user_id", "token_hash", "method", "number", "holder", "idr"), while_any=("number", "method")
        ),
    ),
    # Whether it can be paid, and where. A closed request has none, so nobody can open it again.
    Column("terms_seal", Text, info={**SEALED, **not_exported("a seal of other columns, and no fact")}),
    Index("uq_payment_requests_token_hash", "token_hash", unique=True),
    # A confirmation that is handled again finds the request of the first time.
    Index("uq_payment_requests_draft_id", "draft_id", unique=True),
    Index(None, "user_id", "created_at"),
    Index(None, "used_at"),
)
IS_CLOSED = payment_requests.c.status == constant(RequestStatus.CLOSED)
IS_SHARED = payment_requests.c.shared.is_not(None)
partial_index("ix_payment_requests_shared", payment_requests.c.ends_at, where=IS_SHARED)

payment_request_reports = Table(
    "payment_request_reports",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("request_id", Text, ForeignKey("payment_requests.id", ondelete="CASCADE"), nullable=False),
    Column("user_id", BigInteger, nullable=False, info=OWNER),  # `NOBODY` if the payer has no chat
    Column("payer_hash", Text, nullable=False),  # who has no chat; "" for users
    Column("at", Instant, nullable=False, info=pruned()),
    Column("reason", Text, nullable=False),
    # Whether an operator has looked since.
    Column("is_seen", Boolean, nullable=False),
    # A payer reports a request once.
    Index("uq_payment_request_reports_payer", "request_id", "user_id", "payer_hash", unique=True),
    Index(None, "user_id"),
    Index(None, "at"),
    info=not_exported("that a request was reported, for operators; it has nothing that the payer wrote"),
)

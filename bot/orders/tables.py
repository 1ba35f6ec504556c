"""Tables of orders, their events, their receipts and missed messages."""

from datetime import timedelta

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    and_,
    exists,
    false,
    func,
    or_,
    true,
)

from bot.infra.db.columns import (
    OWNER,
    PERSONAL,
    SEALED,
    USER,
    BigId,
    ExactDecimal,
    Instant,
    Json,
    constant,
    digest,
    metadata,
    not_exported,
    partial_index,
    pruned,
    stays,
)
from bot.infra.outbox.tables import outbox
from bot.orders.notifications import ORDER_SUBJECT
from bot.orders.order import Phase
from bot.payments.tokens import LIGHTNING
from bot.settlement.model import COMPLETED, FAILED

orders = Table(
    "orders",
    metadata,
    Column("reference", Text, primary_key=True),
    Column("user_id", BigInteger, nullable=False, info=OWNER),
    Column("chat_id", BigInteger, nullable=False, info=USER),
    Column("draft_id", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("method", Json, nullable=False),
    Column("method_code", Text, nullable=False),  # the code in `method`, for searching
    Column("number", Text, nullable=False, info=SEALED),
    Column("holder", Text, info=SEALED),
    Column("requested_amount", Json, nullable=False),
    Column("channel", Text, nullable=False),
    Column("expected_sats", BigInteger, nullable=False),
    Column("expected_idr", BigInteger, nullable=False),
    Column("phase", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("version", Integer, nullable=False),
    Column("service_id", Text),
    Column("state", Text, nullable=False),
    Column("step", Integer, nullable=False),
    Column("sats", BigInteger),
    Column("idr", BigInteger),
    Column("btc_idr", ExactDecimal),
    Column("bolt11", Text, info=PERSONAL),
    Column("deposit", Json, info=PERSONAL),
    Column("payment_hash", Text),
    Column("expires_at", Instant),
    Column("invoice_expires_at", Instant),  # when the invoice itself ends; `expires_at` can be earlier
    Column("paid_at", Instant),
    Column("is_paid", Boolean, nullable=False),  # follows from step and paid_at, for sorting
    Column("ended_at", Instant),
    Column("expiry_notified", Boolean, nullable=False),
    Column("refusal", Text, info=SEALED),  # the service's own text; it may quote an account number
    Column("last_polled_at", Instant),
    Column("next_poll_at", Instant),
    Column("page_token", Text, info={**PERSONAL, **not_exported("the address of a page, and no fact")}),
    Column("overdue_notified_at", Instant),
    Column("hold_reason", Text),
    Column("payable_since", Instant),
    Column("posting_until", Instant),  # until then, the request that creates the order can be in progress
    Column("typed_amount", Json),  # what the user asked for, if that isn't `requested_amount`
    Column("evidence", Text, info=SEALED),  # JSON (`evidence.py`); it can name a person
    # The hash of a page's secret, if its payer has no chat (`Payer`).
    Column("payer_hash", Text, info={**PERSONAL, **not_exported("who has no chat gets no file")}),
    # How a payer without a chat can be reached, in their own words. Staff see it in a reveal.
    Column("contact", Text, info={**SEALED, **not_exported("who has no chat gets no file")}),
    Column("answer", Text, info={**SEALED, **not_exported("who has no chat gets no file")}),
    Column("origin", Text),  # the link that it was made from
    Column("outcome", Text),  # where its money is, as staff say
    # Covers who sees the order and how much of it, and where a payment for it goes.
    Column(
        "payment_seal",
        Text,
        info=digest(
            covers=(
                "user_id",
                "chat_id",
                "payer_hash",
                "origin",
                "page_token",
                "method",
                "channel",
                "sats",
                "bolt11",
                "deposit",
            ),
            while_any=("number", "bolt11", "deposit"),
        ),
    ),
    # A confirmation places one order, even if it is repeated: a second intent for it can't be saved.
    UniqueConstraint("draft_id", "attempt"),
    # Without the service's id, nobody could find out what happened to the money.
    info=stays("amounts, times, destinations and the service's ids, for the books and for support"),
)
# A deposit that can still be paid, in whatever phase: the service knows nothing of what the bot showed. Its sum is
# `sats`, and before the service has answered `expected_sats`.
MAY_BE_DEPOSITED = and_(
    orders.c.channel != constant(LIGHTNING),
    orders.c.is_paid.is_(false()),
    orders.c.ended_at.is_(None),
    orders.c.phase != constant(Phase.REFUSED),
)
partial_index("ix_orders_deposit_sats", orders.c.channel, orders.c.sats, where=MAY_BE_DEPOSITED)
MAY_BE_CREATED = and_(MAY_BE_DEPOSITED, orders.c.sats.is_(None))
partial_index("ix_orders_deposit_expected_sats", orders.c.channel, orders.c.expected_sats, where=MAY_BE_CREATED)
HAS_PAYMENT_HASH = orders.c.payment_hash.is_not(None)
# An invoice belongs to one order: one payment would pay all orders with the same payment hash.
partial_index("uq_orders_payment_hash", orders.c.payment_hash, where=HAS_PAYMENT_HASH, unique=True)
IS_CLAIMED = orders.c.service_id.is_not(None)
IS_UNCLAIMED = orders.c.service_id.is_(None)
IS_POLLED = orders.c.next_poll_at.is_not(None)
MAY_EXPIRE = and_(
    orders.c.phase == constant(Phase.OPEN),
    orders.c.expiry_notified.is_(false()),
    orders.c.is_paid.is_(false()),
)
# An order of the service belongs to one intent, so that `LostOrders` can't assign it to two.
partial_index("uq_orders_service_id", orders.c.service_id, where=IS_CLAIMED, unique=True)
# Paid and unpaid orders are read separately.
partial_index("ix_orders_due", orders.c.is_paid, orders.c.next_poll_at, where=IS_POLLED)
# It has the same columns as the index of all orders by destination. Otherwise SQLite would use that one.
partial_index("ix_orders_unclaimed", orders.c.method_code, orders.c.created_at, orders.c.reference, where=IS_UNCLAIMED)
# The phase comes first although it is the same in every row. Otherwise SQLite would use the index by phase.
partial_index("ix_orders_expiring", orders.c.phase, orders.c.expires_at, where=MAY_EXPIRE)
HAS_PAGE = orders.c.page_token.is_not(None)
partial_index("uq_orders_page_token", orders.c.page_token, where=HAS_PAGE, unique=True)
MAY_BE_OVERDUE = and_(
    orders.c.phase == constant(Phase.OPEN),
    orders.c.is_paid.is_(true()),
    orders.c.overdue_notified_at.is_(None),
)
# The phase comes first for the same reason as above.
partial_index("ix_orders_overdue", orders.c.phase, orders.c.paid_at, where=MAY_BE_OVERDUE)
# What `Order.has_money_at_risk` says.
HAS_MONEY_AT_RISK = and_(
    orders.c.outcome.is_(None),
    or_(
        and_(orders.c.is_paid, orders.c.state != constant(COMPLETED)),
        and_(orders.c.state == constant(FAILED), orders.c.channel != constant(LIGHTNING)),
    ),
)
IS_PAID_AT = orders.c.paid_at.is_not(None)
partial_index("ix_orders_paid_at", orders.c.paid_at, orders.c.reference, where=IS_PAID_AT)
HAS_RECIPIENT = orders.c.number != constant("")
partial_index("ix_orders_with_recipient", orders.c.phase, orders.c.created_at, where=HAS_RECIPIENT)
Index("ix_orders_user_id_created_at", orders.c.user_id, orders.c.created_at)
IS_OF_PAGE = orders.c.payer_hash.is_not(None)
partial_index("ix_orders_payer_hash_created_at", orders.c.payer_hash, orders.c.created_at, where=IS_OF_PAGE)
IS_FROM_LINK = orders.c.origin.is_not(None)
partial_index("ix_orders_origin_created_at", orders.c.origin, orders.c.created_at, where=IS_FROM_LINK)
partial_index("ix_orders_from_links_created_at", orders.c.created_at, orders.c.origin, where=IS_FROM_LINK)
Index("ix_orders_created_at_reference", orders.c.created_at, orders.c.reference)
Index("ix_orders_method_code_created_at", orders.c.method_code, orders.c.created_at, orders.c.reference)
Index("ix_orders_phase_created_at", orders.c.phase, orders.c.created_at)

order_events = Table(
    "order_events",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("reference", Text, ForeignKey("orders.reference", ondelete="CASCADE"), nullable=False),
    Column("at", Instant, nullable=False),
    Column("phase", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("service_at", Instant),  # by the service's clock, if it gives a time
    Index(None, "reference", "id"),
)

receipts = Table(
    "receipts",
    metadata,
    Column("reference", Text, ForeignKey("orders.reference", ondelete="CASCADE"), primary_key=True),
    # The code is sealed, to draw the picture again. Codes are looked up by their hashes.
    Column("code", Text, nullable=False, info=SEALED),
    Column("code_hash", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("code_hash"),
)


missed_orders = Table(
    "missed_orders",
    metadata,
    Column("user_id", BigInteger, primary_key=True, autoincrement=False, info=OWNER),
    Column("reference", Text, primary_key=True),
    Column("at", Instant, nullable=False, info=pruned()),
    Index(None, "at"),
)

wrong_codes = Table(
    "wrong_codes",
    metadata,
    # Telegram's id of the user, or 0 for all users together.
    Column("user_id", BigId, primary_key=True, autoincrement=False, info=OWNER),
    Column("full_at", Instant, nullable=False, info=pruned(timedelta())),  # when no wrong code counts any longer
    Index(None, "full_at"),
    info=not_exported("how many wrong codes a user may still type within the next minutes"),
)

_subject_order = func.substr(outbox.c.subject, len(ORDER_SUBJECT) + 1)
_is_missed = exists().where(missed_orders.c.user_id == outbox.c.chat_id, missed_orders.c.reference == _subject_order)
NEEDS_MESSAGE_IDS = outbox.c.subject.startswith(ORDER_SUBJECT) & or_(
    _is_missed,
    exists().where(
        orders.c.reference == _subject_order,
        orders.c.phase.not_in([constant(Phase.DONE), constant(Phase.REFUSED)]),
    ),
)
"""Rows of the outbox about orders in progress. Their message ids are needed to edit the status message and to delete
the invoice. Refused orders aren't among them, because no message follows. Those of orders about which the user missed a
message are needed at their return."""

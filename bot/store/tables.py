"""The tables, and the promises that the database itself keeps however many processes write to it."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    FromClause,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    and_,
    false,
    true,
)

from bot.actions.news import FAREWELL
from bot.actions.ports import NewsStatus
from bot.domain.draft import DraftStatus
from bot.domain.order import Phase
from bot.store.columns import BigId, ExactDecimal, Instant, Json, constant

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


people = Table(
    "people",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=False),
    Column("language_code", Text),
    Column("locale", Text),
    Column("time_zone", Text, nullable=False),
    Column("blocked_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("phrase", Text),  # sealed
    Column("notices", Json),
    Column("awaits", Text),
    Column("answered_update_id", BigInteger),
    Column("delete_asked_at", Instant),
)
IS_LEAVING = people.c.delete_asked_at.is_not(None)
Index("ix_people_leaving", people.c.delete_asked_at, sqlite_where=IS_LEAVING, postgresql_where=IS_LEAVING)
IS_AWAY = people.c.blocked_at.is_not(None)
Index("ix_people_blocked_at", people.c.blocked_at, sqlite_where=IS_AWAY, postgresql_where=IS_AWAY)

inbox = Table(
    "inbox",
    metadata,
    # Telegram delivers an update again until it is told that it arrived: its id is what makes it one.
    Column("update_id", BigId, primary_key=True, autoincrement=False),
    Column("chat_id", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Column("received_at", Instant, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("finished_at", Instant),
)
IS_UNFINISHED = inbox.c.finished_at.is_(None)
Index(
    "ix_inbox_unfinished",
    inbox.c.chat_id,
    inbox.c.update_id,
    sqlite_where=IS_UNFINISHED,
    postgresql_where=IS_UNFINISHED,
)
IS_FINISHED = inbox.c.finished_at.is_not(None)
Index("ix_inbox_finished_at", inbox.c.finished_at, sqlite_where=IS_FINISHED, postgresql_where=IS_FINISHED)

drafts = Table(
    "drafts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("chat_id", BigInteger, nullable=False),
    Column("person_id", BigInteger, nullable=False),
    Column("ask", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("method", Json),
    Column("number", Text),
    Column("doubtful_number", Text),
    Column("holder", Text),
    Column("holder_asked", Boolean, nullable=False),
    Column("amount", Json),
    Column("channel", Text, nullable=False),
    Column("quote", Json),
    Column("message_id", BigInteger),
    Column("last_update_id", BigInteger, nullable=False),
    Column("expires_at", Instant, nullable=False),
)


def is_open(draft: FromClause) -> ColumnElement[bool]:
    """The condition of the partial indexes of drafts, in so many words."""
    return draft.c.status == constant(DraftStatus.OPEN)


IS_OPEN_DRAFT = is_open(drafts)
# One open draft a chat: two updates handled at once, or by two processes, can't begin two.
Index(
    "uq_drafts_open_chat",
    drafts.c.chat_id,
    unique=True,
    sqlite_where=IS_OPEN_DRAFT,
    postgresql_where=IS_OPEN_DRAFT,
)
Index(
    "ix_drafts_open_expires_at",
    drafts.c.expires_at,
    sqlite_where=IS_OPEN_DRAFT,
    postgresql_where=IS_OPEN_DRAFT,
)
IS_CLOSED_DRAFT = drafts.c.status != constant(DraftStatus.OPEN)
Index(
    "ix_drafts_closed_expires_at",
    drafts.c.expires_at,
    sqlite_where=IS_CLOSED_DRAFT,
    postgresql_where=IS_CLOSED_DRAFT,
)
Index("ix_drafts_person_id", drafts.c.person_id)

orders = Table(
    "orders",
    metadata,
    Column("reference", Text, primary_key=True),
    Column("person_id", BigInteger, nullable=False),
    Column("chat_id", BigInteger, nullable=False),
    Column("draft_id", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("method", Json, nullable=False),
    Column("method_code", Text, nullable=False),  # the method's own, to look for
    Column("number", Text, nullable=False),
    Column("holder", Text),
    Column("given", Json, nullable=False),
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
    Column("bolt11", Text),
    Column("deposit", Json),
    Column("expires_at", Instant),
    Column("paid_at", Instant),
    Column("is_paid", Boolean, nullable=False),  # follows from step and paid_at, to sort by
    Column("ended_at", Instant),
    Column("expiry_told", Boolean, nullable=False),
    Column("refusal", Text),
    Column("looked_at", Instant),
    Column("next_look_at", Instant),
    Column("page_token", Text),
    Column("stuck_told_at", Instant),
    # A confirmation places one order, whoever sees it how often: a second intent for it can't be written.
    UniqueConstraint("draft_id", "attempt"),
)
IS_CLAIMED = orders.c.service_id.is_not(None)
IS_UNCLAIMED = orders.c.service_id.is_(None)
IS_LOOKED_AFTER = orders.c.next_look_at.is_not(None)
MAY_EXPIRE = and_(
    orders.c.phase == constant(Phase.OPEN),
    orders.c.expiry_told.is_(false()),
    orders.c.is_paid.is_(false()),
)
# An order of the service belongs to one intent: the reconciler can't adopt it for two.
Index(
    "uq_orders_service_id",
    orders.c.service_id,
    unique=True,
    sqlite_where=IS_CLAIMED,
    postgresql_where=IS_CLAIMED,
)
Index(
    "ix_orders_due",
    orders.c.next_look_at,
    sqlite_where=IS_LOOKED_AFTER,
    postgresql_where=IS_LOOKED_AFTER,
)
Index(
    "ix_orders_unclaimed",
    orders.c.method_code,
    orders.c.created_at,
    sqlite_where=IS_UNCLAIMED,
    postgresql_where=IS_UNCLAIMED,
)
# The phase comes first although it is the same in every row of it: SQLite would rather take the index by phase.
Index(
    "ix_orders_expiring",
    orders.c.phase,
    orders.c.expires_at,
    sqlite_where=MAY_EXPIRE,
    postgresql_where=MAY_EXPIRE,
)
HAS_PAGE = orders.c.page_token.is_not(None)
Index("uq_orders_page_token", orders.c.page_token, unique=True, sqlite_where=HAS_PAGE, postgresql_where=HAS_PAGE)
MAY_BE_STUCK = and_(
    orders.c.phase == constant(Phase.OPEN),
    orders.c.is_paid.is_(true()),
    orders.c.stuck_told_at.is_(None),
)
# The phase first, as above.
Index("ix_orders_stuck", orders.c.phase, orders.c.paid_at, sqlite_where=MAY_BE_STUCK, postgresql_where=MAY_BE_STUCK)
HAS_RECIPIENT = orders.c.number != constant("")
Index(
    "ix_orders_with_recipient",
    orders.c.phase,
    orders.c.created_at,
    sqlite_where=HAS_RECIPIENT,
    postgresql_where=HAS_RECIPIENT,
)
Index("ix_orders_person_id_created_at", orders.c.person_id, orders.c.created_at)
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
    Index(None, "reference", "id"),
)

recipients = Table(
    "recipients",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person_id", BigInteger, nullable=False),
    Column("method", Json, nullable=False),
    Column("number", Text, nullable=False),  # this one and the next two are sealed
    Column("holder", Text),
    Column("label", Text),
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant, nullable=False),
    Index(None, "person_id", "used_at"),
    Index(None, "used_at"),
)

receipts = Table(
    "receipts",
    metadata,
    Column("reference", Text, ForeignKey("orders.reference", ondelete="CASCADE"), primary_key=True),
    # The code itself is sealed, to draw the picture again; to look one up, its hash is enough.
    Column("code", Text, nullable=False),
    Column("code_hash", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("code_hash"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("chat_id", BigInteger, nullable=False),
    Column("subject", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("payload", Json, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("maybe_told", Boolean, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("message_id", BigInteger),
    Column("told_at", Instant),
    Column("failure", Text),
    # A change that is seen twice is news once.
    UniqueConstraint("subject", "kind", "chat_id"),
    # An id is never given again after its row was forgotten: a late answer must not hit another row.
    sqlite_autoincrement=True,
)


def to_tell(news: FromClause) -> ColumnElement[bool]:
    """The condition of what is neither told nor given up, in so many words."""
    return news.c.status.in_([constant(NewsStatus.WAITING), constant(NewsStatus.SENDING)])


IS_WAITING = outbox.c.status == constant(NewsStatus.WAITING)
# What is still to tell is a few rows among many told, so the sender's indexes hold only those: one to find what
# is due in the order it fell due, one to see that nothing in the same chat comes before it.
Index(
    "ix_outbox_waiting",
    outbox.c.due_at,
    outbox.c.id,
    sqlite_where=IS_WAITING,
    postgresql_where=IS_WAITING,
)
Index(
    "ix_outbox_to_tell",
    outbox.c.chat_id,
    outbox.c.id,
    sqlite_where=to_tell(outbox),
    postgresql_where=to_tell(outbox),
)
IS_TOLD = outbox.c.told_at.is_not(None)
IS_GIVEN_UP = outbox.c.status == constant(NewsStatus.UNDELIVERABLE)
Index("ix_outbox_told_at", outbox.c.told_at, sqlite_where=IS_TOLD, postgresql_where=IS_TOLD)
Index("ix_outbox_given_up", outbox.c.created_at, sqlite_where=IS_GIVEN_UP, postgresql_where=IS_GIVEN_UP)
# Told or not, a person who has gone is told once, and then nothing of their chat is to be left.
IS_FAREWELL = outbox.c.kind == constant(FAREWELL)
Index("ix_outbox_farewells", outbox.c.id, sqlite_where=IS_FAREWELL, postgresql_where=IS_FAREWELL)

# Which keys have sealed something here: the database can't be used without all of them.
sealing_keys = Table("sealing_keys", metadata, Column("name", Text, primary_key=True))

"""The tables of users, of their events, and of groups."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Table, Text

from bot.infra.db.columns import (
    INTERNAL,
    OWNER,
    PERSONAL,
    SEALED,
    STAFF,
    BigId,
    Instant,
    Json,
    constant,
    metadata,
    not_exported,
    not_pruned,
    partial_index,
    pruned,
)
from bot.infra.outbox.tables import outbox
from bot.users.model import UserNotification

users = Table(
    "users",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=False, info=OWNER),
    Column("language_code", Text, info=PERSONAL),
    Column("locale", Text, info=PERSONAL),
    Column("time_zone", Text, nullable=False, info=PERSONAL),
    Column("blocked_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("phrase", Text, info=SEALED),
    Column(
        "suggested_phrase",
        Text,
        info={**SEALED, **not_exported("the bot suggested it, and nobody chose it")},
    ),
    Column("notification_preferences", Json, info=PERSONAL),
    Column("open_question", Text, info=INTERNAL),
    Column("answered_update_id", BigInteger, info=INTERNAL),
    Column("question_message_id", BigInteger, info=INTERNAL),
    Column("question_can_go", Boolean, info=INTERNAL),
    Column("answered_buttons", Json, info=INTERNAL),
    Column("deletion_requested_at", Instant),
    Column("last_seen_at", Instant),
    Column("username", Text, info=PERSONAL),  # in lower case, for lookups
    Index(None, "created_at"),
    info=not_pruned("it stays until the user deletes it, or has blocked the bot for the retention period"),
)
HAS_REQUESTED_DELETION = users.c.deletion_requested_at.is_not(None)
partial_index("ix_users_deletion_requested_at", users.c.deletion_requested_at, where=HAS_REQUESTED_DELETION)
HAS_USERNAME = users.c.username.is_not(None)
partial_index("ix_users_username", users.c.username, where=HAS_USERNAME)
HAS_BLOCKED = users.c.blocked_at.is_not(None)
partial_index("ix_users_blocked_at", users.c.blocked_at, where=HAS_BLOCKED)

# No row may name the chat of a deleted user, so these rows are deleted when they were sent or given up.
IS_LAST_MESSAGE = outbox.c.kind == constant(UserNotification.DATA_DELETED)
partial_index("ix_outbox_last_messages", outbox.c.id, where=IS_LAST_MESSAGE)

groups = Table(
    "groups",
    metadata,
    Column("chat_id", BigInteger, primary_key=True, autoincrement=False, info=STAFF),
    Column("locale", Text, nullable=False),
)

user_events = Table(
    "user_events",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("user_id", BigInteger, nullable=False, info=OWNER),
    Column("reference", Text, nullable=False),
    Column("at", Instant, nullable=False, info=pruned()),
    Column("event", Text, nullable=False),
    Index(None, "user_id", "at"),
    Index(None, "at"),
    info=not_exported("which buttons were pressed, for support; what came of it is exported with the orders"),
)

"""The tables of users and of what they did."""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from bot.infra.db.columns import PERSONAL, SEALED, USER, BigId, Instant, Json, constant, not_exported, not_pruned
from bot.infra.db.metadata import metadata
from bot.infra.outbox.tables import outbox
from bot.users.model import FAREWELL

people = Table(
    "people",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=False, info=USER),
    Column("language_code", Text, info=PERSONAL),
    Column("locale", Text, info=PERSONAL),
    Column("time_zone", Text, nullable=False, info=PERSONAL),
    Column("blocked_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("phrase", Text, info=SEALED),
    Column("suggestion", Text, info={**SEALED, **not_exported("the bot suggested it, and nobody chose it")}),
    Column("notices", Json, info=PERSONAL),
    Column("awaits", Text),
    Column("answered_update_id", BigInteger),
    Column("delete_asked_at", Instant),
    Column("seen_at", Instant),
    Column("username", Text, info=PERSONAL),  # in small letters, to be found by
    Index(None, "created_at"),
    info=not_pruned("it stays until the user deletes it, or has blocked the bot for the retention period"),
)
IS_LEAVING = people.c.delete_asked_at.is_not(None)
Index("ix_people_leaving", people.c.delete_asked_at, sqlite_where=IS_LEAVING, postgresql_where=IS_LEAVING)
HAS_USERNAME = people.c.username.is_not(None)
Index("ix_people_username", people.c.username, sqlite_where=HAS_USERNAME, postgresql_where=HAS_USERNAME)
IS_AWAY = people.c.blocked_at.is_not(None)
Index("ix_people_blocked_at", people.c.blocked_at, sqlite_where=IS_AWAY, postgresql_where=IS_AWAY)

# No row may name the chat of a deleted user, so these rows are deleted as soon as they were sent or given up.
IS_FAREWELL = outbox.c.kind == constant(FAREWELL)
Index("ix_outbox_farewells", outbox.c.id, sqlite_where=IS_FAREWELL, postgresql_where=IS_FAREWELL)

person_acts = Table(
    "person_acts",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("person_id", BigInteger, nullable=False, info=USER),
    Column("reference", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("what", Text, nullable=False),
    Index(None, "person_id", "at"),
    Index(None, "at"),
    info=not_exported("which buttons were pressed, for support; what came of it is exported with the orders"),
)

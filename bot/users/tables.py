"""The persons, whom they have sent to, and the updates that they have sent."""

from sqlalchemy import BigInteger, Column, Index, Integer, Table, Text

from bot.infra.db.columns import BigId, Instant, Json
from bot.infra.db.metadata import metadata

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
    Column("suggestion", Text),  # sealed
    Column("notices", Json),
    Column("awaits", Text),
    Column("answered_update_id", BigInteger),
    Column("delete_asked_at", Instant),
    Column("seen_at", Instant),
    Column("username", Text),  # in small letters, to be found by
    Index(None, "created_at"),
)
IS_LEAVING = people.c.delete_asked_at.is_not(None)
Index("ix_people_leaving", people.c.delete_asked_at, sqlite_where=IS_LEAVING, postgresql_where=IS_LEAVING)
HAS_USERNAME = people.c.username.is_not(None)
Index("ix_people_username", people.c.username, sqlite_where=HAS_USERNAME, postgresql_where=HAS_USERNAME)
IS_AWAY = people.c.blocked_at.is_not(None)
Index("ix_people_blocked_at", people.c.blocked_at, sqlite_where=IS_AWAY, postgresql_where=IS_AWAY)

missed_orders = Table(
    "missed_orders",
    metadata,
    Column("person_id", BigInteger, primary_key=True, autoincrement=False),
    Column("reference", Text, primary_key=True),
    Column("at", Instant, nullable=False),
    Index(None, "at"),
)

inbox = Table(
    "inbox",
    metadata,
    # Telegram delivers an update again until it is told that it arrived: its id is what makes it one.
    Column("update_id", BigId, primary_key=True, autoincrement=False),
    Column("chat_id", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Column("received_at", Instant, nullable=False),
    Column("attempts", Integer, nullable=False),
    # Set in the transaction that takes the update in, by whom: from then on it changes nothing there.
    Column("taken_by", Text),
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
    Column("payout_seal", Text),  # the sealed digest of whose it is and at which bank (`sealing.DIGESTS`)
    Index(None, "person_id", "used_at"),
    Index(None, "used_at"),
)

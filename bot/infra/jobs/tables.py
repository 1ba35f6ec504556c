"""The table of jobs. A job is due when it is added: the row that it is about has the time (docs/decisions)."""

from sqlalchemy import BigInteger, Column, Table, Text, UniqueConstraint

from bot.infra.db.columns import TRANSIENT, BigId, Instant, not_exported
from bot.infra.db.metadata import metadata

jobs = Table(
    "jobs",
    metadata,
    Column("id", BigId, primary_key=True),
    Column("chat_id", BigInteger, nullable=False, info=TRANSIENT),
    Column("kind", Text, nullable=False),
    # What the job is about, such as the id of a draft. It holds no personal data.
    Column("argument", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("attempts", BigInteger, nullable=False),
    # A job that waits isn't added again.
    UniqueConstraint("chat_id", "kind", "argument"),
    info=not_exported("work that waits for its turn in a chat, for seconds"),
)

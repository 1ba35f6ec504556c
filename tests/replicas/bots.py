"""Bots that differ from ours: of a newer version, whose tables have one more column, or with a wrong clock."""

from datetime import UTC, datetime, timedelta
from typing import Final
from unittest.mock import patch

from sqlalchemy import Connection, text

import bot.__main__
import bot.process
from bot.core.clock import SystemClock
from bot.infra.db import migrate

NEXT_VERSION, AHEAD = (f"{__name__}:run_{name}" for name in ("next_version", "ahead"))
NEXT_REVISION: Final = f"{int(migrate.get_expected_revision()) + 1:04}"

AHEAD_BY: Final = timedelta(seconds=2)

# `patch` fails if there is no such name, and these are the originals.
_list_revisions, _run_migrations = migrate.list_revisions, migrate._run_migrations


def run_next_version() -> None:
    """Run the bot of a newer version, whose tables have one more column."""
    with patch.multiple(migrate, list_revisions=_with_next_revision, _run_migrations=_run_next_migration):
        bot.__main__.main()


def run_ahead() -> None:
    """Run a bot whose clock is ahead of the database's and of the other bots', as far as it may be."""
    with patch.object(SystemClock, "now", lambda _: datetime.now(UTC) + AHEAD_BY):
        bot.__main__.main()


def _with_next_revision() -> tuple[str, ...]:
    return (*_list_revisions(), NEXT_REVISION)


def _run_next_migration(connection: Connection) -> None:
    _run_migrations(connection)
    connection.execute(text("ALTER TABLE orders ADD COLUMN next_version text"))
    connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": NEXT_REVISION})

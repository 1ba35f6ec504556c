"""Bots that differ from ours: of a newer version, with a fault, or with a wrong clock. A function runs each."""

import os
import signal
from datetime import UTC, datetime, timedelta
from typing import Final
from unittest.mock import patch

from sqlalchemy import Connection, text
from telegram import Update

import bot.__main__
import bot.process
from bot.core.clock import SystemClock
from bot.infra.db import migrate
from bot.updates import UpdateRouter

NEXT_VERSION, CRASHING, AHEAD = (f"{__name__}:run_{name}" for name in ("next_version", "crashing", "ahead"))
KILLING_TEXT: Final = "This text kills the process"
NEXT_REVISION: Final = f"{int(migrate.get_expected_revision()) + 1:04}"
AHEAD_BY: Final = timedelta(seconds=2)

# `patch` fails if there is no such name, and these are the originals.
_process = UpdateRouter.process
_list_revisions, _run_migrations = migrate.list_revisions, migrate._run_migrations


def run_next_version() -> None:
    """Run the bot of a newer version, whose tables have one more column."""
    with patch.multiple(migrate, list_revisions=_with_next_revision, _run_migrations=_run_next_migration):
        bot.__main__.main()


def run_crashing() -> None:
    """Run a bot that one text kills at once, as a fault in a library would: no exception, and no clean end."""
    with patch.object(UpdateRouter, "process", _crash_or_process):
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


async def _crash_or_process(router: UpdateRouter, update: Update) -> None:
    if update.message is not None and update.message.text == KILLING_TEXT:
        os.kill(os.getpid(), signal.SIGKILL)
    await _process(router, update)

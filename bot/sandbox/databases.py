"""Which database the sandbox's bot works on: SQLite if it is alone, PostgreSQL if there are several replicas.

The chats stay when the number of replicas changes, so the bot's data goes with them. `python -m bot copy-database`
copies it, as for any other bot. A copy that was interrupted is made again at the next start.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SQLITE_FILE: Final = "kirim.db"
CURRENT: Final = "current-database"
_FORMAT: Final = 1
"""Raise it when what the sandbox saves of its chats and its service changes."""

_FIRST_MIGRATION: Final = min(path.name for path in (Path(__file__).parents[1] / "migrations/versions").glob("[0-9]*"))
_VERSION: Final = f"{_FORMAT}.{_FIRST_MIGRATION.partition('_')[0]}"
_PROGRAM: Final = (sys.executable, "-m", "bot")
_LEASES_END_SECONDS: Final = 6.0
"""How long a killed bot can seem to work on PostgreSQL, a second more than its leases last."""

_RETRY_SECONDS: Final = 0.5


class NotCopied(Exception):
    """The bot's data couldn't be copied. The text is one or two sentences for the user."""


class Place(StrEnum):
    """Where the data of the sandbox's bot is."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    """The server that the sandbox starts."""

    OWN = "own"
    """The user's own PostgreSQL, which `DATABASE_URL` names."""


def find(state: Path) -> Place | None:
    """Return where the data was at the last start, or None if there is none yet."""
    file = state / CURRENT
    return Place(file.read_text(encoding="ascii").split()[0]) if file.exists() else None


def is_of_another_version(state: Path) -> bool:
    """Return whether this version of the sandbox or of the bot can't read what was saved."""
    file = state / CURRENT
    if file.exists():
        return file.read_text(encoding="ascii").split()[1:] != [_VERSION]
    return (state / SQLITE_FILE).exists()


def remember(state: Path, place: Place) -> None:
    """Save where the data is from now on."""
    unfinished = state / f"{CURRENT}.new"
    unfinished.write_text(f"{place} {_VERSION}", encoding="ascii")
    unfinished.replace(state / CURRENT)


def delete_sqlite(state: Path) -> None:
    """Delete the bot's SQLite database."""
    for file in state.glob(f"{SQLITE_FILE}*"):
        file.unlink()


def sqlite_url(state: Path) -> str:
    """Return the URL of the bot's SQLite database."""
    return f"sqlite:///{(state / SQLITE_FILE).resolve()}"


async def copy(source: str, environment: Mapping[str, str]) -> None:
    """Copy the bot's data from the database `source` into the empty one that `environment` names.

    Raises:
        NotCopied: it can't be copied.
    """
    # It has no tables if no bot was ever started on it.
    await _run(("migrate",), {**environment, "DATABASE_URL": source})
    # Nothing is copied before the leases have ended of replicas that were killed a moment ago.
    end = time.monotonic() + _LEASES_END_SECONDS
    while True:
        try:
            return await _run(("copy-database", "--from", source), environment)
        except NotCopied:
            if time.monotonic() >= end:
                raise
        await asyncio.sleep(_RETRY_SECONDS)


async def _run(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    process = await asyncio.create_subprocess_exec(
        *_PROGRAM,
        *arguments,
        env={**os.environ, **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    if process.returncode:
        lines = output.decode(errors="replace").strip().splitlines()
        raise NotCopied(lines[-1] if lines else f"{arguments[0]} ended with code {process.returncode}.")

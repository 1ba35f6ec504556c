"""Migrations of the tables. They are part of the package, and the program applies them.

Migrations only add to the tables. So while replicas are replaced one by one, a program can work on tables that a newer
one has upgraded: `compatible_revisions` has its revision.

Alembic is imported only when there is something to migrate. Usually the tables are up to date, and the bot starts
faster and smaller without it.
"""

import functools
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, select, text
from sqlalchemy.exc import DBAPIError

from bot.infra.db.address import Address, parse_database_url
from bot.infra.db.engine import create_writer
from bot.infra.db.erasure import AT_START_SECONDS, empty_write_ahead_log
from bot.infra.db.errors import SchemaMismatch, StoreDown, translate_connection_error, translate_error
from bot.infra.db.key_tables import compatible_revisions

MIGRATIONS: Final = Path(__file__).resolve().parents[2] / "migrations"

LOCK_KEY: Final = 0x6B_69_72_69_6D + 1
"""The advisory lock for migrations in PostgreSQL."""

LAST_WITH_LOCK: Final = "0001"
OLD_LEADER_KEY: Final = 0x6B_69_72_69_6D
"""The bot of this revision works alone, while it holds this advisory lock. It can't work beside this program."""

REVISION: Final = text("SELECT version_num FROM alembic_version")
COMPATIBLE: Final = select(compatible_revisions.c.revision)
MORE_TIME: Final = text("SET LOCAL idle_in_transaction_session_timeout = '60s'")
"""A migration computes between its statements: it imports Alembic and builds tables. On a busy machine that can take
longer than the few seconds after which the server ends an ordinary transaction."""


async def upgrade(url: str) -> str:
    """Create the tables of a database or bring them up to date. Return their revision.

    Several processes can call it at once: one migrates, and the others wait. It is one transaction, so a crash leaves
    the tables unchanged. On SQLite it also empties the write-ahead log, which a crash can leave behind.

    Raises:
        SchemaMismatch: a newer program has upgraded the tables, and this one can't use them any more.
        StoreDown: the database can't be reached or rejected a statement, or a bot of revision 0001 uses it.
        UnusableUrl: the URL names no database.
    """
    return await upgrade_at(parse_database_url(url))


async def read_revision(url: str) -> str | None:
    """Return the revision of a database's tables, or None if there are no tables.

    Raises:
        StoreDown: the database can't be reached.
        UnusableUrl: the URL names no database.
    """
    return (await read_state_at(parse_database_url(url))).revision


@dataclass(frozen=True, slots=True)
class Found:
    """The state of a database's tables.

    `revision` is None if there are none. `is_usable` says whether this program can work on them, and `is_known` whether
    it can upgrade them.
    """

    revision: str | None
    is_usable: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the tables are those of this program or an older one."""
        return self.revision is None or self.revision in _list_revisions(MIGRATIONS)


def get_expected_revision() -> str:
    """Return the revision that this program expects."""
    revisions = _list_revisions(MIGRATIONS)
    if not revisions:
        raise RuntimeError("the package came without its migrations")
    return revisions[-1]


@functools.cache
def _list_revisions(folder: Path) -> tuple[str, ...]:
    """Return the revisions, oldest first. The name of each file begins with its revision, a number."""
    return tuple(sorted(path.name.partition("_")[0] for path in (folder / "versions").glob("[0-9]*_*.py")))


async def upgrade_at(address: Address) -> str:
    """Bring the tables at an address up to date, as `upgrade` does."""
    engine = create_writer(address, command_seconds=None)
    if address.path is not None:
        with suppress(OSError):  # it exists, or SQLite will say what is wrong
            # Only its owner reads it. SQLite gives the files beside it the same rights.
            os.close(os.open(address.path, os.O_CREAT | os.O_EXCL, 0o600))
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_upgrade)
    except DBAPIError as error:
        raise translate_error(error) from None
    except OSError as error:
        raise translate_connection_error(error) from error
    finally:
        await engine.dispose()
    await empty_write_ahead_log(address, AT_START_SECONDS)
    return get_expected_revision()


async def read_state_at(address: Address) -> Found:
    """Return the state of the tables at an address. Raises the errors of `read_revision`."""
    if address.path is not None and not address.path.exists():
        return Found(None)
    engine = create_writer(address)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(_read_state)
    except DBAPIError as error:
        raise translate_error(error) from None
    except OSError as error:
        raise translate_connection_error(error) from error
    finally:
        await engine.dispose()


def _upgrade(connection: Connection) -> None:
    # In SQLite the transaction already holds the only write lock.
    if connection.dialect.name != "sqlite":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_KEY})
    found = _read_state(connection)
    if not found.is_known and not found.is_usable:
        raise SchemaMismatch(found.revision, get_expected_revision(), is_newer=True)
    if not found.is_usable:
        if found.revision == LAST_WITH_LOCK:
            _check_no_old_leader(connection)
        _run_migrations(connection)


def _check_no_old_leader(connection: Connection) -> None:
    """Raise `StoreDown` if a bot of revision 0001 runs on this database. It would send everything twice."""
    if connection.dialect.name == "sqlite":
        return  # the lock on the database's file has excluded every other process
    if not connection.scalar(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": OLD_LEADER_KEY}):
        raise StoreDown("an older version of Kirim runs on it, which can't work beside this one: stop it first")


def _run_migrations(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(MORE_TIME)
    from alembic import command  # noqa: PLC0415  see the module
    from alembic.config import Config  # noqa: PLC0415  likewise

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    connection.execute(compatible_revisions.insert(), {"revision": get_expected_revision()})


def _read_state(connection: Connection) -> Found:
    tables = inspect(connection).get_table_names()
    if "alembic_version" not in tables:
        return Found(None)
    revision: str | None = connection.scalar(REVISION)
    expected = get_expected_revision()
    if revision == expected or compatible_revisions.name not in tables:
        return Found(revision, revision == expected)
    return Found(revision, expected in connection.execute(COMPATIBLE).scalars().all())

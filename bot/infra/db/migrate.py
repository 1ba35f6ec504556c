"""Migrations of the tables. They are part of the package, and the program applies them.

Until 0.1.0 is released, there is one migration. Who changes the tables changes it, and raises its number: a database
with a lower number is refused, and a sandbox's is moved aside.

Alembic is imported only when there is something to migrate. Usually the tables are up to date, and the bot starts
faster and smaller without it.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

from bot.infra.db.address import Address, parse_database_url
from bot.infra.db.engine import create_writer
from bot.infra.db.errors import SchemaMismatch, translate_connection_error, translate_error
from bot.infra.db.sqlite_files import AT_START_SECONDS, empty_write_ahead_log

MIGRATIONS: Final = Path(__file__).resolve().parents[2] / "migrations"

LOCK_KEY: Final = 0x6B_69_72_69_6D
"""The advisory lock for migrations in PostgreSQL."""

REVISION: Final = text("SELECT version_num FROM alembic_version")
MORE_TIME: Final = text("SET LOCAL idle_in_transaction_session_timeout = '60s'")
"""A migration computes between its statements: it imports Alembic and builds tables. On a busy machine that can take
longer than the few seconds after which the server ends an ordinary transaction."""


async def upgrade(url: str) -> str:
    """Create the tables of a database or bring them up to date. Return their revision.

    Several processes can call it at once: one migrates, and the others wait. It is one transaction, so a crash leaves
    the tables unchanged. On SQLite it also empties the write-ahead log, which a crash can leave behind.

    Raises:
        SchemaMismatch: this program can't upgrade the tables.
        StoreDown: the database can't be reached or rejected a statement.
        UnusableUrl: the URL names no database.
    """
    return await upgrade_at(parse_database_url(url))


async def read_revision(url: str) -> str | None:
    """Return the revision of a database's tables, or None if there are no tables.

    Raises:
        StoreDown: the database can't be reached.
        UnusableUrl: the URL names no database.
    """
    return await read_revision_at(parse_database_url(url))


def check_upgradable(revision: str | None) -> None:
    """Check that this program can bring tables of this revision up to date.

    Raises:
        SchemaMismatch: it can't.
    """
    if revision is not None and revision not in list_revisions():
        raise SchemaMismatch(revision, list_revisions())


def get_expected_revision() -> str:
    """Return the revision that this program expects."""
    return list_revisions()[-1]


def list_revisions() -> tuple[str, ...]:
    """Return the revisions, oldest first. The name of each file begins with its revision, a number."""
    revisions = tuple(sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py")))
    if not revisions:
        raise RuntimeError("the package came without its migrations")
    return revisions


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


async def read_revision_at(address: Address) -> str | None:
    """Return the revision of the tables at an address. Raises the errors of `read_revision`."""
    if address.path is not None and not address.path.exists():
        return None
    engine = create_writer(address)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(_read_revision)
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
    found = _read_revision(connection)
    check_upgradable(found)
    if found != get_expected_revision():
        _run_migrations(connection)


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


def _read_revision(connection: Connection) -> str | None:
    if "alembic_version" not in inspect(connection).get_table_names():
        return None
    revision: str | None = connection.scalar(REVISION)
    return revision

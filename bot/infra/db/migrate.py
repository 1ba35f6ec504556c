"""Migrations of the tables. They are part of the package, and the program applies them."""

import functools
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from bot.infra.db.address import Address, parse_database_url
from bot.infra.db.engine import create_writer
from bot.infra.db.erasure import AT_START_SECONDS, empty_write_ahead_log
from bot.infra.db.errors import SchemaMismatch, translate_connection_error, translate_error

MIGRATIONS: Final = Path(__file__).resolve().parents[2] / "migrations"

LOCK_KEY: Final = 0x6B_69_72_69_6D + 1
"""The advisory lock for migrations in PostgreSQL. The leader has another one."""


async def upgrade(url: str) -> str:
    """Create the tables of a database or bring them up to date. Return their revision.

    Several processes can call it at once: one migrates, and the others wait. It is one transaction, so a crash leaves
    the tables unchanged. On SQLite it also empties the write-ahead log, which a crash can leave behind.

    Raises:
        SchemaMismatch: a newer program has upgraded the tables.
        StoreFailure: the database can't be reached, or rejected a statement.
        UnusableUrl: the URL names no database.
    """
    return await upgrade_at(parse_database_url(url))


async def read_revision(url: str) -> str | None:
    """Return the revision of a database's tables, or None if there are no tables.

    Raises:
        StoreFailure: the database can't be reached.
        UnusableUrl: the URL names no database.
    """
    return await read_revision_at(parse_database_url(url))


def is_known(revision: str | None) -> bool:
    """Return whether this program can upgrade tables of `revision`. None means no tables."""
    return revision in {None, *_list_revisions(_create_config())}


def get_expected_revision() -> str:
    """Return the revision that this program expects."""
    return _read_newest_revision(MIGRATIONS)


@functools.cache
def _read_newest_revision(folder: Path) -> str:
    revision = ScriptDirectory.from_config(_create_config(folder)).get_current_head()
    if revision is None:
        raise RuntimeError("the package came without its migrations")
    return revision


async def upgrade_at(address: Address) -> str:
    """Bring the tables at an address up to date, as `upgrade` does."""
    engine = create_writer(address)
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
    """Return the revision of the tables at an address, as `read_revision` does."""
    if address.path is not None and not address.path.exists():
        return None
    engine = create_writer(address)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(_get_revision)
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
    config, found = _create_config(), _get_revision(connection)
    if not is_known(found):
        raise SchemaMismatch(found, get_expected_revision(), is_newer=True)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _get_revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _list_revisions(config: Config) -> set[str]:
    return {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}


def _create_config(folder: Path | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(folder or MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config

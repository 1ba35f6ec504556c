"""The tables' history, applied by the program itself: the migrations travel within the package."""

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from bot.infra.db.address import Address, address
from bot.infra.db.engine import writer
from bot.infra.db.erasing import AT_START_SECONDS, empty_log
from bot.infra.db.errors import SchemaMismatch, failure, unreachable

MIGRATIONS: Final = Path(__file__).resolve().parents[2] / "migrations"

LOCK_KEY: Final = 0x6B_69_72_69_6D + 1
"""PostgreSQL's advisory lock for migrations, beside the leader's."""


async def upgrade(url: str) -> str:
    """Bring the tables of a database up to date, create what isn't there, and return their revision.

    It is safe while other processes do the same: one migrates, and the others wait. It is one transaction, so a crash
    leaves the tables as they were. On SQLite it also empties the log of what a crash kept from being erased.

    Raises:
        SchemaMismatch: a newer program has upgraded them.
        StoreFailure: the database can't be reached or refused.
        UnusableUrl: the URL names no database.
    """
    return await upgrade_at(address(url))


async def current(url: str) -> str | None:
    """Return the revision of a database's tables; None where there are none.

    Raises:
        StoreFailure: the database can't be reached.
        UnusableUrl: the URL names no database.
    """
    return await current_at(address(url))


def is_known(revision: str | None) -> bool:
    """Whether this program can bring tables of `revision` up to date; None are no tables."""
    return revision in {None, *_known(_config())}


def head() -> str:
    """Return the revision that this program expects."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    if revision is None:
        raise RuntimeError("the package came without its migrations")
    return revision


async def upgrade_at(place: Address) -> str:
    """Do what `upgrade` does, with an address."""
    engine = writer(place)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_upgrade)
    except DBAPIError as error:
        raise failure(error) from None
    except OSError as error:
        raise unreachable(error) from error
    finally:
        await engine.dispose()
    await empty_log(place, AT_START_SECONDS)
    return head()


async def current_at(place: Address) -> str | None:
    """Return the revision of the tables at an address, as `current` does."""
    if place.path is not None and not place.path.exists():
        return None
    engine = writer(place)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(_revision)
    except DBAPIError as error:
        raise failure(error) from None
    except OSError as error:
        raise unreachable(error) from error
    finally:
        await engine.dispose()


def _upgrade(connection: Connection) -> None:
    # SQLite's transaction holds the only write lock already.
    if connection.dialect.name != "sqlite":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_KEY})
    config, found = _config(), _revision(connection)
    if not is_known(found):
        raise SchemaMismatch(found, head(), is_newer=True)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _known(config: Config) -> set[str]:
    return {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config

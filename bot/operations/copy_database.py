"""`kirim copy-database`: copy all data of a database into an empty one, such as from SQLite to PostgreSQL."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Final

from bot.infra.db import copy
from bot.infra.db.address import parse_database_url
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreError

DONE, NOT_COPIED = 0, 1
FILLED: Final = ("saved_replies",)
"""The tables that have rows in a new database."""

LEFT_OUT: Final = ("chat_leases", "leader_lease", "processes")
"""The tables that aren't copied: they are about running processes."""

PrintLine = Callable[[str], object]
OpenDatabase = Callable[[str], Database]


class BotIsRunning(Exception):
    """A bot works on one of the databases."""


class _SourceFailed(Exception):
    """The database to copy from can't be used."""


async def run(from_url: str, to_url: str, open_database: OpenDatabase, print_line: PrintLine) -> int:
    """Copy the database of one URL into that of another, and return the exit code.

    Nothing is copied unless everything is.

    Raises:
        StoreError: the second database can't be used.
    """
    async with AsyncExitStack() as stack:
        try:
            source = await _open_source(from_url, open_database, stack)
            target = open_database(to_url)
            stack.push_async_callback(target.close)
            await target.upgrade()
            async with target.reading() as reading:
                await copy.check_unused(reading.connection)
                await copy.check_empty(reading.connection, FILLED + LEFT_OUT)
            return await _copy(source, target, print_line)
        except (BotIsRunning, copy.InUse):
            print_line("Nothing was copied: a bot works on one of the two databases. Stop every bot first.")
        except _SourceFailed as error:
            print_line(f"Nothing was copied: the database in --from can't be used: {error}.")
        except copy.NotEmpty as error:
            print_line(f"Nothing was copied: the database in DATABASE_URL can't be used: {error}. Create a new one.")
    return NOT_COPIED


async def _open_source(url: str, open_database: OpenDatabase, stack: AsyncExitStack) -> Database:
    """Open the database to copy from, and check that it can be copied.

    Raises:
        _SourceFailed: it isn't there, has other tables, or needs other keys.
    """
    try:
        address = parse_database_url(url)
        if address.path is not None and not address.path.exists():
            raise _SourceFailed(f"there is no file {address.path}")
        source = open_database(url)
        stack.push_async_callback(source.close)
        await source.check()
        await source.check_keys()
    except StoreError as error:
        raise _SourceFailed(str(error)) from None
    return source


async def _copy(source: Database, target: Database, print_line: PrintLine) -> int:
    async with AsyncExitStack() as stack:
        for database in (source, target):
            await stack.enter_async_context(database.exclude_others(_refuse))
        reading = (await stack.enter_async_context(source.transaction())).connection
        writing = (await stack.enter_async_context(target.transaction())).connection
        await copy.lock_tables(reading, against_reading=False)
        await copy.lock_tables(writing, against_reading=True)
        for connection in (reading, writing):
            await copy.check_unused(connection)
        await copy.check_empty(writing, FILLED + LEFT_OUT)
        total = 0
        async for table in copy.copy_rows(reading, writing, left_out=LEFT_OUT):
            total += table.rows
            if table.rows:
                print_line(f"  {table.name}: {table.rows:,}")
    print_line(f"{total:,} rows were copied and compared. From now on, start the bot only with the new DATABASE_URL.")
    return DONE


def _refuse() -> None:
    raise BotIsRunning

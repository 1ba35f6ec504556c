"""Find a PostgreSQL server for the tests, or start one only for this run.

`TEST_POSTGRES_URL` comes first, then a server of our own from the installed programs, then one that answers on this
machine. On a server that isn't ours, the tests only use databases that they create and drop.

A small shell process waits until the test run ends, however it ends: it stops our server, or drops the databases that a
killed run left.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import secrets
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg  # type: ignore[import-untyped]  # it ships none
from sqlalchemy import URL

from bot.sandbox.postgresql import (
    PLACES,
    TIMEOUT_SECONDS,
    NoServer,
    Runner,
    install_postgresql,
    installed,
    one_line,
    other_user,
    run_at_end,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["NoServer", "Server", "find", "prefix", "usable"]

VARIABLE = "TEST_POSTGRES_URL"
PREFIX_VARIABLE = "TEST_POSTGRES_PREFIX"
"""The environment variable with the prefix of this run's databases. Workers and other child processes inherit it."""
OLDEST_VERSION = 13
"""The first version that can drop a database with open connections."""
CONNECT_SECONDS = 10
LONGEST_PARENT = 70
"""The maximum length of the folder's path. A socket's address is limited to 103 bytes on some systems."""
DEFAULT_PORT = 5432
SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{folder}'
unix_socket_permissions = 0700
port = {port}
max_connections = 200
dynamic_shared_memory_type = mmap
fsync = off
full_page_writes = off
synchronous_commit = off
max_wal_size = 128MB
"""
ERRORS = (OSError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError)
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Server:
    """A server for one test run: its URL, and the function to call when the run ends."""

    url: str
    stop: Callable[[], None] = field(default=lambda: None, repr=False)


def find(environment: Mapping[str, str] = os.environ, places: Sequence[str] = PLACES) -> Server:
    """Return a server that accepts connections and allows us to create databases.

    Raises:
        NoServer: there is none, or the one in `TEST_POSTGRES_URL` can't be used.
    """
    if given := environment.get(VARIABLE):
        return _watched(usable(given.replace("postgres://", "postgresql://", 1)))
    why = "not found"
    for programs in installed(environment, places):
        for parent in parents():
            try:
                return start(programs, parent, environment)
            except NoServer as error:
                why = f"not started ({error})"
    for url in answering(environment):
        with suppress(NoServer):
            return _watched(usable(url))
    raise NoServer(why)


def usable(url: str) -> str:
    """Return the URL if the server answers and its user may create databases.

    Raises:
        NoServer: the server doesn't answer, or the user may not.
    """
    question = "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user"

    async def ask() -> tuple[bool, int]:
        connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS)
        try:
            return bool(await connection.fetchval(question)), connection.get_server_version().major
        finally:
            await connection.close()

    try:
        may_create, version = asyncio.run(ask())
    except ERRORS as error:
        raise NoServer(f"not usable ({one_line(error)})") from None
    if not may_create:
        raise NoServer("not usable (its user may not create databases)")
    if version < OLDEST_VERSION:
        raise NoServer(f"not usable (it is version {version}, the tests need {OLDEST_VERSION})")
    return url


def start(
    programs: Path,
    parent: Path,
    environment: Mapping[str, str] = os.environ,
    *,
    port: int = DEFAULT_PORT,
    settings: str = "",
) -> Server:
    """Start a server in a new folder under `parent`, reachable over a socket in that folder alone.

    `settings` are more lines of its configuration. They can open it to this machine's addresses, at `port`.

    PostgreSQL refuses to run as root, so root runs it as another user.

    Raises:
        NoServer: one of the programs failed.
    """
    user = other_user()
    try:
        folder = Path(tempfile.mkdtemp(prefix="kirim-pg-", dir=parent))
    except OSError as error:
        raise NoServer(one_line(error)) from None
    # Started before the server, so that a kill at any time leaves nothing behind.
    stop = at_end("stop", str(programs), str(folder), user or "")
    try:
        if user:
            shutil.chown(folder, user)
        data = folder / "data"
        run = Runner(programs, folder, user, environment)
        run("initdb", "--no-sync", "--no-locale", "--encoding=UTF8", "--auth=trust", "--username=postgres", str(data))
        with (data / "postgresql.conf").open("a") as config:
            config.write(SETTINGS.format(folder=str(folder).replace("'", "''"), port=port) + settings)
        run("pg_ctl", "start", "--wait", "-t", str(TIMEOUT_SECONDS), "-D", str(data), "-l", str(folder / "log"))
        url = URL.create("postgresql", "postgres", database="postgres", query={"host": str(folder), "port": str(port)})
        return Server(usable(url.render_as_string(hide_password=False)), stop)
    except (OSError, LookupError) as error:
        stop()
        raise NoServer(one_line(error)) from None
    except BaseException:
        stop()
        raise


def answering(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield the usual URLs of a server on this machine."""
    user = getpass.getuser()
    port = int(environment.get("PGPORT") or 5432)
    hosts = [environment.get("PGHOST"), "127.0.0.1", "/var/run/postgresql", "/tmp"]  # noqa: S108  where sockets are
    users = [environment.get("PGUSER"), "postgres", user]
    databases = [environment.get("PGDATABASE"), "test", "postgres", user]
    for host in dict.fromkeys(filter(None, hosts)):
        for name in dict.fromkeys(filter(None, users)):
            for database in dict.fromkeys(filter(None, databases)):
                url = URL.create("postgresql", name, database=database, query={"host": host, "port": str(port)})
                yield url.render_as_string(hide_password=False)


def prefix() -> str:
    """Return the prefix of the names of this run's databases."""
    return os.environ.setdefault(PREFIX_VARIABLE, f"kirim_test_{secrets.token_hex(4)}_")


def hint() -> str:
    """Return how to install PostgreSQL on this system."""
    return f"{install_postgresql()}, or name a server in {VARIABLE}."


def at_end(*arguments: str, environment: Mapping[str, str] | None = None) -> Callable[[], None]:
    """Run this module with `arguments` once this process has ended, or when the returned function is called."""
    command = (sys.executable, "-m", "tests.harness.postgresql", *arguments)
    return run_at_end(command, folder=ROOT, environment=environment)


def _watched(url: str) -> Server:
    """Return a server that we didn't start. At the end, drop databases that killed processes left behind."""
    # Not as an argument: the URL can contain a password, and other users see arguments.
    return Server(url, at_end("drop", prefix(), environment={VARIABLE: url}))


def _stop(programs: str, folder: str, user: str) -> None:
    run = Runner(Path(programs), Path(folder), user or None, os.environ)
    # `fast` also removes shared memory. `immediate` always works.
    for way in ("fast", "immediate"):
        with suppress(NoServer):
            run("pg_ctl", "stop", "-m", way, "-t", "20", "-D", str(Path(folder) / "data"))
            break
    shutil.rmtree(folder)


def _drop(beginning: str) -> None:
    async def drop() -> None:
        connection = await asyncpg.connect(os.environ[VARIABLE], timeout=CONNECT_SECONDS)
        try:
            left = await connection.fetch("SELECT datname FROM pg_database WHERE starts_with(datname, $1)", beginning)
            for row in left:
                await connection.execute(f'DROP DATABASE IF EXISTS "{row["datname"]}" WITH (FORCE)')
        finally:
            await connection.close()

    asyncio.run(drop())


def parents() -> Iterator[Path]:
    """Yield folders for a server's files. The first can be closed to another user, or its path too long."""
    for name in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):  # noqa: S108  mkdtemp makes it ours alone
        if Path(name).is_dir() and len(os.fsencode(name)) <= LONGEST_PARENT:
            yield Path(name)


if __name__ == "__main__":
    if sys.argv[1] == "stop":
        _stop(*sys.argv[2:])
    else:
        _drop(*sys.argv[2:])

"""The PostgreSQL server of `TEST_POSTGRES_URL`, or one that is started only for this run.

On a server that isn't ours, the tests only use databases that they create and drop. A small shell process waits until
the test run ends, however it ends, and stops our server.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import URL

from bot.sandbox.postgresql import (
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
    from collections.abc import Callable, Iterator

VARIABLE = "TEST_POSTGRES_URL"
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
ROOT = Path(__file__).resolve().parents[2]


class Server(NamedTuple):
    """A server for one test run: its URL, and the function to call when the run ends."""

    url: str
    stop: Callable[[], None]


def find() -> Server:
    """Return the server that is named, or a new one.

    Raises:
        NoServer: none is installed, or it doesn't start.
    """
    if given := os.environ.get(VARIABLE):
        return Server(given.replace("postgres://", "postgresql://", 1), lambda: None)
    why = "not found"
    for programs in installed():
        for parent in parents():
            try:
                return start(programs, parent)
            except NoServer as error:
                why = f"not started ({error})"
    raise NoServer(why)


def start(programs: Path, parent: Path, *, port: int = DEFAULT_PORT, settings: str = "") -> Server:
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
    command = (sys.executable, "-m", "tests.harness.postgresql", str(programs), str(folder), user or "")
    stop = run_at_end(command, folder=ROOT)
    try:
        if user:
            shutil.chown(folder, user)
        data = folder / "data"
        run = Runner(programs, folder, user, os.environ)
        run("initdb", "--no-sync", "--no-locale", "--encoding=UTF8", "--auth=trust", "--username=postgres", str(data))
        with (data / "postgresql.conf").open("a") as config:
            config.write(SETTINGS.format(folder=str(folder).replace("'", "''"), port=port) + settings)
        run("pg_ctl", "start", "--wait", "-t", str(TIMEOUT_SECONDS), "-D", str(data), "-l", str(folder / "log"))
        url = URL.create("postgresql", "postgres", database="postgres", query={"host": str(folder), "port": str(port)})
        return Server(url.render_as_string(hide_password=False), stop)
    except (OSError, LookupError) as error:
        stop()
        raise NoServer(one_line(error)) from None
    except BaseException:
        stop()
        raise


def hint() -> str:
    """Return how to install PostgreSQL on this system."""
    return f"{install_postgresql()}, or name a server in {VARIABLE}."


def _stop(programs: str, folder: str, user: str) -> None:
    run = Runner(Path(programs), Path(folder), user or None, os.environ)
    # `fast` also removes shared memory. `immediate` always works.
    for way in ("fast", "immediate"):
        with suppress(NoServer):
            run("pg_ctl", "stop", "-m", way, "-t", "20", "-D", str(Path(folder) / "data"))
            break
    shutil.rmtree(folder)


def parents() -> Iterator[Path]:
    """Yield folders for a server's files. The first can be closed to another user, or its path too long."""
    for name in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):  # noqa: S108  mkdtemp makes it ours alone
        if Path(name).is_dir() and len(os.fsencode(name)) <= LONGEST_PARENT:
            yield Path(name)


if __name__ == "__main__":
    _stop(*sys.argv[1:])

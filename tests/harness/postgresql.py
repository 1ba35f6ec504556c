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
import platform
import pwd
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg  # type: ignore[import-untyped]  # it ships none
from sqlalchemy import URL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

VARIABLE = "TEST_POSTGRES_URL"
PREFIX_VARIABLE = "TEST_POSTGRES_PREFIX"
"""The environment variable with the prefix of this run's databases. Workers and other child processes inherit it."""
OLDEST_VERSION = 13
"""The first version that can drop a database with open connections."""
PROGRAMS = ("initdb", "pg_ctl", "postgres")
PLACES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/libexec/postgresql*",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
    "/opt/local/lib/postgresql*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
)
"""Where packages install the server's programs. These folders are often not on the PATH."""
TIMEOUT_SECONDS = 120
"""A limit against hanging."""
CONNECT_SECONDS = 10
LONGEST_PARENT = 70
"""The maximum length of the folder's path. A socket's address is limited to 103 bytes on some systems."""
WAIT_APART = 'exec 3<&0; { read -r _; exec "$@"; } <&3 3<&- &'
"""A script whose first process ends at once, so that init becomes the parent of the waiting process."""
SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{folder}'
unix_socket_permissions = 0700
port = 5432
max_connections = 200
dynamic_shared_memory_type = mmap
fsync = off
full_page_writes = off
synchronous_commit = off
"""
ERRORS = (OSError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError)
ROOT = Path(__file__).resolve().parents[2]


class NoServer(Exception):
    """There is no usable PostgreSQL server. The text says what was tried last."""


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
        for parent in _parents():
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
        raise NoServer(f"not usable ({_one_line(error)})") from None
    if not may_create:
        raise NoServer("not usable (its user may not create databases)")
    if version < OLDEST_VERSION:
        raise NoServer(f"not usable (it is version {version}, the tests need {OLDEST_VERSION})")
    return url


def installed(environment: Mapping[str, str] = os.environ, places: Sequence[str] = PLACES) -> Iterator[Path]:
    """Yield the folders with the programs of a server, without duplicates."""
    path = environment.get("PATH", os.defpath)
    candidates: list[Path] = []
    if config := shutil.which("pg_config", path=path):
        with suppress(OSError, subprocess.SubprocessError):
            shown = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=True, timeout=30)
            candidates.append(Path(shown.stdout.strip()))
    if initdb := shutil.which("initdb", path=path):
        candidates += [Path(initdb).parent, Path(initdb).resolve().parent]
    for place in places:
        found = Path("/").glob(place.lstrip("/"))
        candidates += sorted(found, key=_version_in_path, reverse=True)
    seen: set[Path] = set()
    for candidate in candidates:
        folder = candidate.resolve()
        if folder not in seen and all(os.access(folder / program, os.X_OK) for program in PROGRAMS):
            seen.add(folder)
            yield folder


def start(programs: Path, parent: Path, environment: Mapping[str, str] = os.environ) -> Server:
    """Start a server in a new folder under `parent`, reachable over a socket in that folder alone.

    PostgreSQL refuses to run as root, so root runs it as another user.

    Raises:
        NoServer: one of the programs failed.
    """
    user = other_user()
    try:
        folder = Path(tempfile.mkdtemp(prefix="kirim-pg-", dir=parent))
    except OSError as error:
        raise NoServer(_one_line(error)) from None
    # Started before the server, so that a kill at any time leaves nothing behind.
    stop = at_end("stop", str(programs), str(folder), user or "")
    try:
        if user:
            shutil.chown(folder, user)
        data = folder / "data"
        run = Runner(programs, folder, user, environment)
        run("initdb", "--no-sync", "--no-locale", "--encoding=UTF8", "--auth=trust", "--username=postgres", str(data))
        with (data / "postgresql.conf").open("a") as settings:
            settings.write(SETTINGS.format(folder=str(folder).replace("'", "''")))
        run("pg_ctl", "start", "--wait", "-t", str(TIMEOUT_SECONDS), "-D", str(data), "-l", str(folder / "log"))
        url = URL.create("postgresql", "postgres", database="postgres", query={"host": str(folder)})
        return Server(usable(url.render_as_string(hide_password=False)), stop)
    except (OSError, LookupError) as error:
        stop()
        raise NoServer(_one_line(error)) from None
    except BaseException:
        stop()
        raise


@dataclass(frozen=True)
class Runner:
    """Runs the programs of the server in its folder, as its user."""

    programs: Path
    folder: Path
    user: str | None
    environment: Mapping[str, str]

    def __call__(self, program: str, *arguments: str) -> None:
        """Run one program to its end.

        Raises:
            NoServer: it failed; the text is its last line.
        """
        # Variables for clients, such as PGPORT, must not affect the server. Messages must be in English.
        kept = {name: value for name, value in self.environment.items() if not name.startswith(("PG", "LC_", "LANG"))}
        try:
            done = subprocess.run(
                [self.programs / program, *arguments],
                cwd=self.folder,
                env={**kept, "LC_ALL": "C"},
                user=self.user,
                group=pwd.getpwnam(self.user).pw_gid if self.user else None,
                extra_groups=[] if self.user else None,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_SECONDS,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise NoServer(f"{program}: {_one_line(error)}") from None
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()
            raise NoServer(f"{program}: {lines[-1]}")


def other_user() -> str | None:
    """Return the user that runs the server if we are root, else None.

    Raises:
        NoServer: we are root and there is no other user.
    """
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "_postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise NoServer("it can't run as root, and there is no user 'postgres' or 'nobody'")


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
    return f"{install('postgresql', brew='postgresql@17')}, or name a server in {VARIABLE}."


def install(package: str, *, brew: str) -> str:
    """Return the beginning of a sentence, with the install command of this system."""
    if platform.system() == "Darwin":
        return f"Install it with `brew install {brew}`"
    for manager, command in (("apt-get", "apt install"), ("dnf", "dnf install"), ("pacman", "pacman -S")):
        if shutil.which(manager):
            return f"Install it with `{command} {package}`"
    return f"Install the package {package}"


def at_end(*arguments: str, environment: Mapping[str, str] | None = None) -> Callable[[], None]:
    """Run this module with `arguments` once this process has ended, or when the returned function is called.

    A shell waits for that. It reads a pipe that only this process writes to, and that closes when this process ends,
    even on SIGKILL. It has a session of its own, so that Ctrl-C doesn't reach it, and no parent among our processes,
    so that whoever kills this process with all its descendants doesn't find it.
    """
    waiting = subprocess.Popen(
        ["sh", "-c", WAIT_APART, "sh", sys.executable, "-m", "tests.harness.postgresql", *arguments],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    waiting.wait(TIMEOUT_SECONDS)

    def end() -> None:
        # It writes nothing. Its output closes when it ends.
        waiting.communicate(b"\n", TIMEOUT_SECONDS)

    return end


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


def _parents() -> Iterator[Path]:
    """Yield folders for the server's files. The first can be closed to another user, or its path too long."""
    for name in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):  # noqa: S108  mkdtemp makes it ours alone
        if Path(name).is_dir() and len(os.fsencode(name)) <= LONGEST_PARENT:
            yield Path(name)


def _version_in_path(folder: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", str(folder)))


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":
    if sys.argv[1] == "stop":
        _stop(*sys.argv[2:])
    else:
        _drop(*sys.argv[2:])

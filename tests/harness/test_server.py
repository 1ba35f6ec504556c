"""The PostgreSQL server that a test run starts, and the cleanup when the run ends or is killed."""

import asyncio
import os
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]  # it ships none
import psutil  # type: ignore[import-untyped]  # it has no stubs of its own
import pytest
from sqlalchemy import make_url

from bot.sandbox.postgresql import PROGRAMS, NoServer, installed
from tests import waiting
from tests.e2e.launcher import Child, launcher
from tests.harness import postgresql
from tests.harness.postgresql import Server, parents, start

pytestmark = pytest.mark.process

TIMEOUT_SECONDS = 60
"""A limit against hanging."""


@pytest.fixture(scope="module")
def programs() -> Path:
    found = next(installed(), None)
    return found or pytest.skip("no PostgreSQL server is installed")


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that another user may enter, with a path that is short enough for a socket."""
    made = Path(tempfile.mkdtemp(prefix="a b ", dir=next(parents())))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def parent() -> Iterator[Path]:
    with folder() as made:
        yield made


@pytest.fixture(scope="module")
def server(programs: Path) -> Iterator[Server]:
    """A server that was started with unusual variables for clients and language."""
    odd = {"PGPORT": "1", "PGDATA": "/nowhere", "PGOPTIONS": "-c nonsense=1", "LC_ALL": "xx_XX", "LANG": "xx_XX"}
    with folder() as made:
        started = start(programs, made, {**os.environ, **odd})
        yield started
        started.stop()


async def fetch(url: str, question: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(question)
    finally:
        await connection.close()


def ask(url: str, question: str) -> object:
    return asyncio.run(fetch(url, question))


def servers_in(folder: Path) -> list[int]:
    """Return the processes of servers whose files are in `folder`."""
    commands = ((each.pid, " ".join(each.info["cmdline"] or ())) for each in psutil.process_iter(["cmdline"]))
    return [pid for pid, command in commands if "postgres" in command and f"{folder}/" in command]


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds that other processes change."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_it_answers_over_a_socket_alone(server: Server) -> None:
    assert ask(server.url, "SHOW listen_addresses") == ""
    assert ask(server.url, "SHOW server_encoding") == "UTF8"
    socket = Path(str(make_url(server.url).query["host"])) / ".s.PGSQL.5432"
    assert socket.stat().st_mode & 0o077 == 0


def test_another_beside_it_leaves_nothing_when_it_stops(programs: Path, parent: Path, server: Server) -> None:
    other = start(programs, parent)
    assert servers_in(parent)
    other.stop()
    assert list(parent.iterdir()) == []
    until(lambda: not servers_in(parent))
    assert ask(server.url, "SELECT 1") == 1


@asynccontextmanager
async def running_child(*arguments: str, **environment: str) -> AsyncIterator[Child]:
    """Start a test run in a session of its own, and wait until it has a server."""
    (its_input, ours), (reading, writing) = os.pipe(), os.pipe()
    try:
        child = await launcher().start(
            arguments,
            program="tests.harness.server_child",
            environment={"PATH": os.environ["PATH"], **environment},
            log=2,
            stdin=its_input,
            stdout=writing,
        )
    finally:
        os.close(its_input)
        os.close(writing)
    with os.fdopen(ours, "wb"), os.fdopen(reading, "rb") as output:
        assert output.readline().startswith(b"postgresql://")
        yield child


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
async def test_it_ends_with_a_run_that_is_interrupted_or_killed(
    programs: Path, parent: Path, number: signal.Signals
) -> None:
    async with running_child(str(programs), str(parent)) as run:
        assert servers_in(parent)
        # A terminal sends Ctrl-C to all processes of the group. A run that is killed can be so with its descendants.
        killed = psutil.Process(run.pid).children(recursive=True) if number == signal.SIGKILL else []
        for each in killed:
            each.kill()
        os.killpg(run.pid, number)
        await asyncio.wait_for(run.wait(), TIMEOUT_SECONDS)
    until(lambda: not servers_in(parent) and not list(parent.iterdir()))


def test_programs_that_fail_are_named_with_their_last_words_and_leave_nothing(parent: Path) -> None:
    for name in PROGRAMS:
        (parent / name).write_text("#!/bin/sh\necho first >&2\necho the disk is full >&2\nexit 1\n")
        (parent / name).chmod(0o755)
    (parent / "here").mkdir(mode=0o777)
    with pytest.raises(NoServer, match=r"^initdb: the disk is full$"):
        start(parent, parent / "here")
    assert list((parent / "here").iterdir()) == []


def test_a_user_who_may_create_no_database_is_not_enough(server: Server) -> None:
    ask(server.url, "CREATE ROLE guest LOGIN")
    guest = make_url(server.url).set(username="guest").render_as_string(hide_password=False)
    with pytest.raises(NoServer, match="may not create databases"):
        postgresql.usable(guest)


@pytest.mark.postgresql
async def test_what_a_killed_run_left_on_a_server_is_dropped_and_nothing_else(postgresql_server: str) -> None:
    begins = f"{postgresql.prefix()}killed_"

    async def named(beginning: str) -> object:
        return await fetch(
            postgresql_server,
            f"SELECT count(*) FROM pg_database WHERE starts_with(datname, '{beginning}')",  # noqa: S608  our own name
        )

    async def is_dropped() -> bool:
        return await named(begins) == 0

    await fetch(postgresql_server, f"CREATE DATABASE {begins}1")
    await fetch(postgresql_server, f"CREATE DATABASE {begins[:-1]}2")
    async with running_child(TEST_POSTGRES_URL=postgresql_server, TEST_POSTGRES_PREFIX=begins) as run:
        assert await named(begins) == 1
        run.kill()
    await waiting.until(is_dropped, what="the end of its database")
    assert await named(f"{begins[:-1]}2") == 1
    await fetch(postgresql_server, f"DROP DATABASE {begins[:-1]}2")

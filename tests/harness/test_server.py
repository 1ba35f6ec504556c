"""The PostgreSQL server that a test run starts, and the cleanup when the run ends or is killed."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]  # it ships none
import psutil  # type: ignore[import-untyped]  # it has no stubs of its own
import pytest
from sqlalchemy import make_url

from bot.sandbox.postgresql_programs import PROGRAMS, NoServer, installed
from tests.harness import postgresql
from tests.harness.postgresql import Server, start

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 60
"""A limit against hanging."""
STARTS_ONE = """
import signal, sys
from pathlib import Path
from tests.harness.postgresql import start
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits that it is ignored
print(start(Path(sys.argv[1]), Path(sys.argv[2])).url, flush=True)
sys.stdin.read()
"""
WATCHES_ONE = """
import sys
from tests.harness.postgresql import find
find()
print("watched", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def programs() -> Path:
    found = next(installed(), None)
    return found or pytest.skip("no PostgreSQL server is installed")


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that another user may enter, with a path that is short enough for a socket."""
    made = Path(tempfile.mkdtemp(prefix="a b ", dir="/tmp"))
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


def ask(url: str, question: str) -> object:
    async def answer() -> object:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(question)
        finally:
            await connection.close()

    return asyncio.run(answer())


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


@contextmanager
def run_with_server(programs: Path, parent: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a test run in a separate process group, and wait until its server has started."""
    run = subprocess.Popen(
        [sys.executable, "-c", STARTS_ONE, str(programs), str(parent)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with run:
        assert run.stdout is not None
        assert run.stdout.readline().startswith(b"postgresql://")
        assert servers_in(parent)
        yield run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_it_ends_with_a_run_that_is_interrupted_or_killed(programs: Path, parent: Path, number: signal.Signals) -> None:
    with run_with_server(programs, parent) as run:
        # A terminal sends Ctrl-C to all processes of the group.
        os.killpg(run.pid, number)
        run.wait(TIMEOUT_SECONDS)
    until(lambda: not servers_in(parent) and not list(parent.iterdir()))


def test_it_ends_with_a_run_that_is_killed_with_all_its_descendants(programs: Path, parent: Path) -> None:
    with run_with_server(programs, parent) as run:
        for each in (*psutil.Process(run.pid).children(recursive=True), run):
            each.kill()
        run.wait(TIMEOUT_SECONDS)
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
def test_what_a_killed_run_left_on_a_server_is_dropped_and_nothing_else(postgresql_server: str) -> None:
    begins = f"{postgresql.prefix()}killed_"

    def named(beginning: str) -> object:
        return ask(postgresql_server, f"SELECT count(*) FROM pg_database WHERE starts_with(datname, '{beginning}')")  # noqa: S608

    ask(postgresql_server, f"CREATE DATABASE {begins}1")
    ask(postgresql_server, f"CREATE DATABASE {begins[:-1]}2")
    run = subprocess.Popen(
        [sys.executable, "-c", WATCHES_ONE],
        cwd=ROOT,
        env={**os.environ, "TEST_POSTGRES_URL": postgresql_server, "TEST_POSTGRES_PREFIX": begins},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"watched\n"
        assert named(begins) == 1
        run.kill()
    until(lambda: named(begins) == 0)
    assert named(f"{begins[:-1]}2") == 1
    ask(postgresql_server, f"DROP DATABASE {begins[:-1]}2")

"""The PostgreSQL server that a sandbox with several replicas starts."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg  # type: ignore[import-untyped]  # it ships none
import pytest

from bot.sandbox import postgresql, process_locks, run
from bot.sandbox.postgresql import NoServer, installed
from tests.harness.postgresql import parents

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.process


@contextmanager
def folder(prefix: str) -> Iterator[Path]:
    """A folder that another user may enter."""
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=next(parents())))
    made.chmod(0o755)
    try:
        yield made
    finally:
        postgresql.stop(made)
        postgresql.delete(made)
        shutil.rmtree(made)


@pytest.fixture(scope="module", params=["a b '", "long-" * 20], ids=["reachable", "too-long"])
def state(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder whose path a socket can have, and one with which the files are elsewhere."""
    if next(installed(), None) is None:
        pytest.skip("no PostgreSQL server is installed")
    with folder(request.param) as made:
        yield made


@pytest.fixture
def stopped(state: Path) -> Path:
    """A folder with the data of a server that doesn't run."""
    if not (state / postgresql.FOLDER).exists():
        postgresql.start(state)
    postgresql.stop(state)
    return state


def ask(url: str, *statements: str) -> object:
    """Execute statements, and return the first value of the last one."""

    async def answer() -> object:
        connection = await asyncpg.connect(url)
        try:
            for statement in statements[:-1]:
                await connection.execute(statement)
            return await connection.fetchval(statements[-1])
        finally:
            await connection.close()

    return asyncio.run(answer())


def test_it_keeps_its_data_on_disk(stopped: Path) -> None:
    url = postgresql.start(stopped)
    assert ask(url, "SHOW fsync") == "on"
    assert ask(url, "SHOW listen_addresses") == ""
    assert ask(url, "CREATE TABLE kept (number int)", "INSERT INTO kept VALUES (7) RETURNING number") == 7
    files = (stopped / postgresql.FOLDER).resolve()
    with pytest.raises(NoServer, match="still running"):
        postgresql.start(stopped)
    assert process_locks.is_held(stopped / postgresql.LOCK)
    postgresql.stop(stopped)
    assert not process_locks.is_held(stopped / postgresql.LOCK)
    # As after a power cut: the number in the file is that of another program, in this case of the tests.
    pid_file = files / "data" / "postmaster.pid"
    pid_file.write_text(f"1\n{files / 'data'}\n0\n5432\n{files}\n\n")
    assert ask(postgresql.start(stopped), "SELECT number FROM kept") == 7
    postgresql.stop(stopped)


def test_why_it_does_not_start_is_said_in_one_sentence(stopped: Path) -> None:
    # As after an update of PostgreSQL.
    version = stopped / postgresql.FOLDER / "data" / "PG_VERSION"
    current = version.read_text()
    version.write_text("9\n")
    with pytest.raises(
        NoServer,
        match=r"^PostgreSQL doesn't start \(database files are incompatible with server\)\. Start over with --fresh",
    ):
        postgresql.start(stopped)
    version.write_text(current)


async def test_without_postgresql_the_sandbox_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "installed", lambda: iter(()))
    options = run.SandboxOptions(state=tmp_path, page_port=0, service_port=0, replicas=2)
    with pytest.raises(run.CantStart, match=r"^Several replicas need PostgreSQL\. Install .+ DATABASE_URL\.$"):
        await run.run(options, asyncio.Event())

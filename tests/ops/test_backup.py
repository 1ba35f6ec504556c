"""The database of compose.yaml: the bot's role, the dumps of the backup container, and a restore on another server."""

import asyncio
import os
import subprocess
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it has no stubs of its own
import pytest
from sqlalchemy import make_url

from bot.sandbox.postgresql import installed
from tests.e2e.orders.steps import complete_order, type_to_review
from tests.e2e.system import running_system
from tests.harness import postgresql
from tests.ops import compose
from tests.ops.compose import ROOT
from tests.texts import label, like
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = [pytest.mark.postgresql, pytest.mark.process]

SCRIPTS = ROOT / "ops/compose/database"
PASSWORD = compose.ENVIRONMENT["POSTGRES_PASSWORD"]


@dataclass(frozen=True)
class Server:
    """A new PostgreSQL server, and how its programs reach it."""

    host: str
    programs: Path

    @property
    def bot_url(self) -> str:
        """The address of the bot's database."""
        return f"postgresql://kirim@/kirim?host={self.host}"

    def run(self, *command: str, **variables: str) -> str:
        """Run a program with the variables of its container, and return its output."""
        done = subprocess.run(
            command,
            env=self.environment(variables),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of a program with these variables."""
        return {"PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}", "PGHOST": self.host, **variables}

    def ask(self, question: str) -> str:
        """Return the answer to a query by the superuser."""
        return self.run("psql", "-U", "postgres", "-d", "postgres", "-tAc", question).strip()

    def create_database(self) -> None:
        """Do what the database's container does at its first start."""
        given = {"POSTGRES_USER": "postgres", "POSTGRES_PASSWORD": PASSWORD}
        self.run("sh", str(SCRIPTS / "create.sh"), **given)

    def back_up(self, folder: Path) -> Path:
        """Do what the backup's container does once, and return the dump."""
        before = set(folder.iterdir())
        given = {"PGUSER": "kirim", "PGDATABASE": "kirim", "PGPASSWORD": PASSWORD, "BACKUP_FOLDER": str(folder)}
        self.run("sh", str(SCRIPTS / "backup.sh"), "once", **given)
        [dump] = set(folder.iterdir()) - before
        return dump


@pytest.fixture(scope="module")
def started() -> Iterator[tuple[Server, Server]]:
    programs = next(installed())
    started = [postgresql.start(programs, next(postgresql.parents())) for _ in range(2)]
    hosts = [str(make_url(each.url).query["host"]) for each in started]
    yield Server(hosts[0], programs), Server(hosts[1], programs)
    for each in started:
        each.stop()


@pytest.fixture
def servers(started: tuple[Server, Server]) -> Iterator[tuple[Server, Server]]:
    """Two servers, as new."""
    for server in started:
        server.ask("ALTER ROLE postgres PASSWORD 'of the image'")
    yield started
    for server in started:
        server.run("dropdb", "-U", "postgres", "--force", "--if-exists", "kirim")
        server.run("dropuser", "-U", "postgres", "--if-exists", "kirim")


async def test_an_order_in_progress_ends_on_another_server_after_a_restore(
    servers: tuple[Server, Server], tmp_path: Path
) -> None:
    first, second = servers
    backups = tmp_path / "backups"
    backups.mkdir()
    first.create_database()
    async with running_system(tmp_path, DATABASE_URL=first.bot_url) as system:
        await type_to_review(system.emma)
        await system.emma.taps(label("checkout.review.confirm"))
        await system.emma.sees(like("orders.status_message.waiting"))
        [order] = await system.service.orders()
        dump = first.back_up(backups)
        await system.kill_bot()
        # The steps of docs/setup.md, on a server that already has an empty database.
        second.create_database()
        second.run("dropdb", "-U", "postgres", "--force", "kirim")
        second.run("createdb", "-U", "postgres", "--owner", "kirim", "kirim")
        second.run("pg_restore", "--exit-on-error", "--dbname", "kirim", str(dump), PGUSER="kirim")
        await system.service.pays(order)
        await system.start_bot(DATABASE_URL=second.bot_url)
        await system.emma.sees(like("orders.notification.paid"))
        await complete_order(system, order)
        await system.emma.sees(like("orders.notification.sent_bank"))
        assert len(await system.service.orders()) == 1
    assert dump.stat().st_mode & 0o077 == 0


def test_the_bot_is_no_superuser_and_nobody_is_over_the_network(servers: tuple[Server, Server]) -> None:
    server, _ = servers
    server.create_database()
    assert server.ask("SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = 'kirim'") == "f|f|f"
    assert server.ask("SELECT rolname FROM pg_authid WHERE rolpassword IS NOT NULL") == "kirim"
    assert server.ask("SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'kirim'") == "kirim"
    assert "--data-checksums" in compose.read().services["database"]["environment"]["POSTGRES_INITDB_ARGS"]


async def test_old_dumps_are_deleted_only_after_a_new_one(servers: tuple[Server, Server], tmp_path: Path) -> None:
    server, _ = servers
    old, recent = tmp_path / "kirim-20200101T000000Z.dump", tmp_path / "kirim-20990101T000000Z.dump"
    for file in (old, recent):
        file.touch()
    os.utime(old, (0, 0))
    assert "pg_dump: error" in await _back_up_until_it_waits(server, tmp_path)
    assert set(_list(tmp_path)) == {old, recent}
    server.create_database()
    assert "saved" in await _back_up_until_it_waits(server, tmp_path)
    [new] = set(_list(tmp_path)) - {recent}
    assert new != old
    assert new.suffix == ".dump"


async def _back_up_until_it_waits(server: Server, folder: Path) -> str:
    """Run the backup's container until it has nothing to do, stop it, and return its output."""
    given = {"PGUSER": "kirim", "PGDATABASE": "kirim", "BACKUP_FOLDER": str(folder)}
    process = await asyncio.create_subprocess_exec(
        *("sh", str(SCRIPTS / "backup.sh")), env=server.environment(given), stdout=PIPE, stderr=STDOUT
    )

    async def is_waiting() -> bool:
        return [each.name() for each in psutil.Process(process.pid).children()] == ["sleep"]

    await until(is_waiting, what="the pause between two dumps")
    process.terminate()
    out, _ = await asyncio.wait_for(process.communicate(), TIMEOUT_SECONDS)
    assert process.returncode == 0
    return out.decode()


def _list(folder: Path) -> list[Path]:
    return list(folder.iterdir())

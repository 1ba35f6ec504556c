"""PostgreSQL that several processes can't work on is refused at the start, in one sentence that says what to do."""

import asyncio
import os
import pwd
import re
import shutil
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import asyncpg  # type: ignore[import-untyped]  # it has no types
import pytest
from sqlalchemy import make_url

from bot.infra.db import postgresql
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreError, UnsuitableServer
from tests.harness.databases import on_postgresql
from tests.waiting import until

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


async def refuses(url: str) -> str:
    """Return why the database is refused."""
    store = Database(url)
    try:
        with pytest.raises(StoreError) as caught:
            await store.check_server()
        return str(caught.value)
    finally:
        await store.close()


async def test_a_suitable_database_is_accepted(store: Database) -> None:
    await store.check_server()


class FakeServer:
    """A connection to a server that answers with these values."""

    def __init__(self, **values: Any) -> None:
        usual = {
            "version": 15,
            "timeout": "4s",
            "time": datetime.now(UTC),
            "role": "kirim",
            "schema": "public",
            "may_create": True,
            "only_reads": False,
            "forbidden": None,
        }
        self._row = SimpleNamespace(**usual | values)

    async def execute(self, _: object) -> Any:
        return SimpleNamespace(one=lambda: self._row)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"version": 12}, "it is PostgreSQL 12, and Kirim needs 13 or newer: upgrade the server"),
        ({"timeout": "0"}, "it is behind a connection pooler such as PgBouncer"),
        ({"schema": None}, "GRANT CREATE, USAGE ON SCHEMA public TO kirim"),
        ({"may_create": False}, "the role kirim may not create tables there"),
        ({"forbidden": "orders"}, "may not read and write the table orders"),
    ],
)
async def test_what_is_wrong_is_named(values: Mapping[str, object], why: str) -> None:
    with pytest.raises(UnsuitableServer, match=re.escape(why)):
        await postgresql.check_server(cast("Any", FakeServer(**values)))


@pytest.mark.parametrize("seconds", [-30, -2.5, 2.5, 3600])
async def test_a_clock_that_differs_is_named(seconds: float) -> None:
    server = FakeServer(time=datetime.now(UTC) + timedelta(seconds=seconds))
    with pytest.raises(UnsuitableServer, match=r"its clock differs .* synchronise both clocks \(NTP\)"):
        await postgresql.check_server(cast("Any", server))


@on_postgresql
async def test_a_role_without_the_privileges_is_refused(database: str) -> None:
    owner = await asyncpg.connect(database)
    name = f"kirim_{os.urandom(4).hex()}"
    try:
        await owner.execute(f"CREATE ROLE {name} LOGIN")
        url = make_url(database).set(username=name).render_as_string(hide_password=False)
        await owner.execute(f"REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO {name}")
        assert "may not create tables there" in await refuses(url)
        await owner.execute(f"GRANT CREATE ON SCHEMA public TO {name}")
        assert "may not read and write the table" in await refuses(url)
        await owner.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {name}")
        allowed = Database(url)
        await allowed.check_server()
        await allowed.close()
    finally:
        await owner.execute(f"DROP OWNED BY {name}; DROP ROLE {name}; GRANT CREATE ON SCHEMA public TO PUBLIC")
        await owner.close()


def write_config(folder: Path, database: str, lines: Mapping[str, str]) -> Path:
    config = folder / "pgbouncer.ini"
    settings = "".join(f"{key} = {value}\n" for key, value in lines.items())
    config.write_text(f"[databases]\n{database}\n[pgbouncer]\n{settings}")
    return config


def find_owner(host: str) -> str:
    """Return who may use the server's socket. PgBouncer refuses to run as root."""
    return Path(host).owner() if host.startswith("/") else "nobody"


@asynccontextmanager
async def pgbouncer(server: str, folder: Path, **settings: str) -> AsyncIterator[str]:
    """Run PgBouncer in front of a server, in transaction mode. Yield the URL of the same database through it."""
    assert PGBOUNCER is not None
    url = make_url(server)
    host = str(url.query.get("host", url.host))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    lines = {
        "listen_addr": "127.0.0.1",
        "listen_port": str(port),
        "unix_socket_dir": "",
        "auth_type": "any",
        "pool_mode": "transaction",
        "logfile": "",
        "pidfile": "",
        **settings,
    }
    name, user = url.database, url.username or pwd.getpwuid(os.geteuid()).pw_name
    config = write_config(folder, f"{name} = host={host} port={url.port or 5432} user={user}", lines)
    command = [str(PGBOUNCER), *(["-u", find_owner(host)] if os.geteuid() == 0 else []), str(config)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)

    async def listens() -> bool:
        assert process.returncode is None, await process.communicate()
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return False
        writer.close()
        return True

    try:
        await until(listens, what="PgBouncer listens")
        yield url.set(host="127.0.0.1", port=port, query={}).render_as_string(hide_password=False)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


IGNORED = {
    "ignore_startup_parameters": "idle_in_transaction_session_timeout,tcp_keepalives_idle,tcp_keepalives_interval,"
    "tcp_keepalives_count,jit,plan_cache_mode,synchronous_commit,extra_float_digits"
}


@pytest.mark.process
@pytest.mark.skipif(PGBOUNCER is None, reason="PgBouncer isn't installed")
@pytest.mark.parametrize("pool_size", ["1", "20"])
async def test_a_pooler_that_the_settings_do_not_show_is_refused(
    migrated_database: str, tmp_path: Path, pool_size: str
) -> None:
    """The role has the settings by itself, so a session has them though the pooler has dropped them."""
    ignored = IGNORED | {"default_pool_size": pool_size}
    name = make_url(migrated_database).database
    owner = await asyncpg.connect(migrated_database)
    try:
        await owner.execute(f'ALTER DATABASE "{name}" SET idle_in_transaction_session_timeout = 4000')
        async with pgbouncer(migrated_database, tmp_path, **ignored) as url:
            why = await refuses(url)
    finally:
        await owner.execute(f'ALTER DATABASE "{name}" RESET idle_in_transaction_session_timeout')
        await owner.close()
    assert "which shares a session between connections: connect to PostgreSQL itself" in why

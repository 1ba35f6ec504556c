"""Sessions of PostgreSQL that live and can no longer do their work are replaced, so writes go on when they can."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from types import SimpleNamespace

import asyncpg  # type: ignore[import-untyped]  # it has no types
import pytest
from sqlalchemy import make_url, text

from bot.infra.db import engine, migrate
from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown, UnsuitableServer
from bot.operations.check import CheckFailed, check_database
from tests.harness.databases import new_database
from tests.infra.keys import VAULT

pytestmark = pytest.mark.postgresql
# Other tests have their own databases on the same server.
CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
ROLE = f"kirim_{secrets.token_hex(4)}"
SELF = text("SELECT count(pid) FROM pg_stat_activity WHERE usename = current_user")
GRANT = f"GRANT ALL ON SCHEMA public TO {ROLE}; GRANT ALL ON ALL TABLES IN SCHEMA public TO {ROLE}"


class Server:
    """A database of its own on a real server, and its administrator's connection."""

    def __init__(self, url: str, connection: asyncpg.Connection) -> None:
        self.url = url
        self.connection = connection

    async def does(self, *statements: str) -> None:
        """Execute statements as the administrator."""
        for each in statements:
            await self.connection.execute(each)

    async def only_reads(self) -> None:
        """Take only reads in new sessions, and end all others, as a failover or a full disk does."""
        await self.does(f"ALTER DATABASE {make_url(self.url).database} SET default_transaction_read_only = on", CUT)

    async def writes_again(self) -> None:
        """Take writes in new sessions."""
        await self.does(f"ALTER DATABASE {make_url(self.url).database} RESET default_transaction_read_only")


@pytest.fixture
def own_database(postgresql_server: str) -> Iterator[str]:
    with new_database(postgresql_server) as url:
        asyncio.run(migrate.upgrade(url))
        yield url


@pytest.fixture
async def server(own_database: str) -> AsyncIterator[Server]:
    connection = await asyncpg.connect(own_database)
    yield Server(own_database, connection)
    await connection.close()


@pytest.fixture
async def kirim(server: Server) -> AsyncIterator[Database]:
    made = Database(server.url, VAULT, owner="a1b2")
    yield made
    await made.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The monotonic clock of the sessions' pauses. It stands still unless a test moves it."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(engine, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


async def count_writes(kirim: Database, tries: int = 20) -> int:
    return sum([await kirim.can_write() for _ in range(tries)])


async def test_writes_go_on_after_the_server_only_took_reads(
    server: Server, kirim: Database, clock: SimpleNamespace
) -> None:
    assert await kirim.can_write()
    await server.only_reads()
    assert await count_writes(kirim) == 0
    await server.writes_again()
    clock.now += engine.RENEW_SECONDS
    assert await count_writes(kirim) == 19  # the first finds out


async def test_all_sessions_of_the_pool_are_replaced_at_the_first_error(server: Server, kirim: Database) -> None:
    await server.only_reads()
    async with AsyncExitStack() as sessions:
        for _ in range(engine.POSTGRESQL_CONNECTIONS):
            await sessions.enter_async_context(kirim.reading())
    await server.writes_again()
    assert not await kirim.can_write()
    assert all(await asyncio.gather(*(kirim.can_write() for _ in range(engine.POSTGRESQL_CONNECTIONS))))


@pytest.fixture
async def role_url(server: Server) -> AsyncIterator[str]:
    """The address of the database for a role that isn't its owner."""
    await server.does(f"CREATE ROLE {ROLE} LOGIN PASSWORD 'secret'", GRANT)
    yield make_url(server.url).set(username=ROLE, password="secret").render_as_string(hide_password=False)
    await server.does(f"DROP OWNED BY {ROLE}; DROP ROLE {ROLE}")


@pytest.fixture
async def of_role(role_url: str) -> AsyncIterator[Database]:
    made = Database(role_url, VAULT, owner="a1b2")
    yield made
    await made.close()


async def test_writes_go_on_after_the_role_was_replaced_by_one_of_the_same_name(
    server: Server, of_role: Database
) -> None:
    assert await of_role.can_write()
    async with of_role.keeping() as tx:
        await tx.connection.execute(SELF)
    await server.does(f"DROP OWNED BY {ROLE}; DROP ROLE {ROLE}; CREATE ROLE {ROLE} LOGIN PASSWORD 'secret'; {GRANT}")
    assert not await of_role.can_write()
    assert await of_role.can_write()
    with pytest.raises(StoreDown):
        async with of_role.keeping() as tx:
            await tx.connection.execute(SELF)
    async with of_role.keeping() as tx:
        await tx.connection.execute(SELF)


async def test_a_right_that_new_sessions_lack_as_well_is_named(
    server: Server, of_role: Database, role_url: str
) -> None:
    assert await of_role.find_forbidden_table() is None
    await server.does(f"REVOKE UPDATE ON processes FROM {ROLE}")
    assert await count_writes(of_role) == 0
    assert await of_role.find_forbidden_table() == "processes"
    with pytest.raises(UnsuitableServer, match="may not read and write the table processes"):
        await of_role.check_server()
    with pytest.raises(CheckFailed, match="GRANT ALL ON ALL TABLES IN SCHEMA public"):
        await check_database(lambda: Database(role_url, VAULT))
    await server.does(GRANT)
    assert await of_role.find_forbidden_table() is None
    assert await of_role.can_write()


async def test_a_new_session_writes_although_those_of_the_process_cannot(
    server: Server, kirim: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "UNUSABLE", frozenset())
    await server.only_reads()
    assert await kirim.can_write(in_new_session=True) is False
    assert await count_writes(kirim) == 0
    await server.writes_again()
    assert await count_writes(kirim) == 0
    assert await kirim.can_write(in_new_session=True) is True

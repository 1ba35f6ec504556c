"""Several replicas on one PostgreSQL database, beside the sandbox's service and Telegram."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it has no types
import httpx

from bot.infra.db import migrate
from bot.sandbox.bot_api.model import TotalLimit
from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.e2e import failure_report
from tests.e2e.launcher import BOT
from tests.e2e.system import USUAL, System
from tests.replicas import chat_record, history
from tests.replicas.chat_record import ChatRecord
from tests.replicas.history import CHAT, LEADER, History
from tests.replicas.relay import HOST
from tests.replicas.replica import Replica, create_replica
from tests.waiting import TIMEOUT_SECONDS, found, until

SETTINGS = {
    **USUAL,
    # The users of these tests order faster than people.
    "MAX_MESSAGES_PER_MINUTE": "0",
    "MAX_OPEN_ORDERS": "0",
    "MAX_ORDERS_PER_HOUR": "0",
    "MAX_IDR_PER_DAY": "0",
}
LEASE_SECONDS = 5.0


class Cluster:
    """The replicas, the database, and the system that users and the service are part of."""

    def __init__(self, system: System, database: str, replicas: list[Replica]) -> None:
        self.system = system
        self.database = database
        self.replicas = replicas
        self.record = ChatRecord(system)
        self._connection: asyncpg.Connection | None = None
        self._is_querying = asyncio.Lock()

    async def query(self, statement: str, *values: object) -> list[Mapping[str, Any]]:
        """Return the rows of a statement, without a relay in between."""
        async with self._is_querying:
            if self._connection is None:
                self._connection = await asyncpg.connect(self.database)
            rows: list[Mapping[str, Any]] = await self._connection.fetch(statement, *values)
            return rows

    async def close(self) -> None:
        """End all replicas, and close all connections."""
        await asyncio.gather(*(each.close() for each in self.replicas))
        if self._connection is not None:
            await self._connection.close()
        await self.system.close()

    async def owner_of(self, chat_id: int) -> Replica:
        """Wait until a replica holds the chat, and return it."""
        return await self._owner(f"SELECT owner FROM {CHAT} WHERE chat_id = $1", chat_id)  # noqa: S608  our own name

    async def leader(self) -> Replica:
        """Wait until a replica is the leader, and return it."""
        return await self._owner(f"SELECT owner FROM {LEADER} WHERE expires_at > clock_timestamp()")  # noqa: S608

    async def _owner(self, question: str, *values: object) -> Replica:
        async def look() -> Replica | None:
            rows = await self.query(question, *values)
            owners = await self.owners()
            return next((each for row in rows for each in self.replicas if owners.get(each.name) == row["owner"]), None)

        owner = await found(look, lambda each: each is not None, what="a replica with the lease")
        assert owner is not None
        return owner

    async def owners(self) -> dict[str, str]:
        """Return the owner's id of each replica's last start, as its leases name it."""
        recorded = await self.history()
        owners = history.owners_of(recorded.changes, [each.starts[-1] for each in self.replicas if each.starts])
        return {
            each.name: owners[backend]
            for each in self.replicas
            if each.starts
            for backend in each.starts[-1]
            if backend in owners
        }

    async def history(self) -> History:
        """Return the history of leases and of work."""
        return await history.read(self.database)

    async def now(self) -> datetime:
        """Return the time of the database's clock."""
        (row,) = await self.query("SELECT clock_timestamp() AS now")
        found: datetime = row["now"]
        return found

    async def leader_is_followed(self, former: Replica, failed_at: datetime) -> None:
        """Wait until another replica leads, and check that the lease of the former one wasn't kept after its end."""

        async def is_followed() -> bool:
            return await self.leader() is not former

        await until(is_followed, what="another replica leads")
        recorded = await self.history()
        owners = history.owners_of(recorded.changes, former.starts)
        change = next(each for each in reversed(recorded.takeovers(LEADER)) if each.former_owner in owners.values())
        assert change.former_expires_at is not None
        assert change.former_expires_at <= failed_at + timedelta(seconds=LEASE_SECONDS)

    async def end_leases_of(self, dead: Replica) -> None:
        """End the leases of a process that has died, as if their time had passed."""
        assert not dead.is_running
        owner = (await self.owners()).get(dead.name)
        for table in (CHAT, LEADER):
            ended = (
                f"UPDATE {table} SET expires_at = clock_timestamp() WHERE owner = $1 AND expires_at > clock_timestamp()"  # noqa: S608  our own names
            )
            await self.query(ended, owner)

    async def becomes_ready(self, replica: Replica, *, ready: bool) -> None:
        """Wait until the replica's page says that it is ready, or that it isn't."""
        url = f"http://{HOST}:{replica.environment['HTTP_PORT']}/readyz"
        async with httpx.AsyncClient() as http:

            async def status() -> int:
                return (await http.get(url, timeout=TIMEOUT_SECONDS)).status_code

            await found(status, lambda code: (code == httpx.codes.OK) is ready, what=f"ready: {ready}")

    async def becomes_idle(self) -> None:
        """Wait until all updates are handled, all notifications sent, and all orders placed or refused."""

        async def left() -> dict[str, int]:
            (row,) = await self.query(
                "SELECT (SELECT count(*) FROM inbox WHERE finished_at IS NULL) AS updates,"
                " (SELECT count(*) FROM outbox WHERE status IN ('waiting', 'sending')) AS notifications,"
                " (SELECT count(*) FROM orders WHERE phase IN ('intended', 'unknown')) AS intents"
            )
            return {**row, "pending": await self._pending_updates()}

        await found(left, lambda counts: not any(counts.values()), what="rest")

    async def _pending_updates(self) -> int:
        token = self.system.environment["TELEGRAM_BOT_TOKEN"]
        about = (await self.system.telegram.get(f"/bot{token}/getWebhookInfo")).raise_for_status().json()
        return int(about["result"]["pending_update_count"])

    async def start_all(self, program: str) -> None:
        """Start all replicas at once, and wait until they work."""
        await asyncio.gather(*(each.start(program) for each in self.replicas))

    async def restore(self) -> None:
        """Bring all replicas back: thawed, connected and running."""
        for each in self.replicas:
            each.relay.resume()
            each.telegram.resume()
            if each.is_frozen:
                each.thaw()
        await asyncio.gather(*(each.start() for each in self.replicas if not each.is_running))


@asynccontextmanager
async def running_cluster(
    folder: Path,
    database: str,
    *,
    replicas: int = 3,
    profile: str = "documented",
    telegram_limit: TotalLimit | None = None,
    program: str = BOT,
    **settings: str,
) -> AsyncIterator[Cluster]:
    """Run the servers and replicas on an empty database.

    `telegram_limit` None means that Telegram limits nothing. `program` is a module with a `main`.
    """
    await migrate.upgrade(database)
    await history.record(database)
    options = SandboxOptions(state=folder, profile=profile, page_port=0, service_port=0)
    async with servers(options) as addresses:
        environment = bot_environment(folder, addresses) | SETTINGS | {"DATABASE_URL": database} | settings
        system = System(addresses, environment, folder)
        made = [await create_replica(number, environment, folder) for number in range(1, replicas + 1)]
        for each in made:
            failure_report.started_program(each.log)
        cluster = Cluster(system, database, made)
        failure_report.opened(system)
        recording = asyncio.create_task(cluster.record.run())
        try:
            limits = {"enforce": telegram_limit is not None, "total_applies_to": telegram_limit or "all"}
            (await system.telegram.post("/sandbox/limits", json=limits)).raise_for_status()
            await system.service.does("settings", speedSeconds=None)
            await cluster.start_all(program)
            yield cluster
        except BaseException as error:
            failure_report.failed(system, error)
            raise
        finally:
            failure_report.closed(system)
            await chat_record.stop(recording)
            await cluster.close()

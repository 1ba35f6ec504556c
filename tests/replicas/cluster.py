"""Several replicas on one PostgreSQL database, beside the sandbox's service and Telegram."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it has no types
import httpx

from bot.infra.db import migrate
from bot.sandbox.bot_api.model import TotalLimit
from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.e2e import failure_report
from tests.e2e.faults import hold_service
from tests.e2e.system import USUAL, System
from tests.replicas import chat_record, history
from tests.replicas.chat_record import ChatRecord
from tests.replicas.history import LEADER, History
from tests.replicas.journeys import Journey
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
ANSWERED_AFTER = 3.0
"""Seconds after which a held request to the service is answered. What is done to a replica has happened by then."""


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
        return await self._owner("SELECT owner FROM chat_leases WHERE chat_id = $1", chat_id)

    async def leader(self) -> Replica:
        """Wait until a replica is the leader, and return it."""
        return await self._owner("SELECT owner FROM chat_leases WHERE chat_id = 0 AND expires_at > clock_timestamp()")

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

    async def living(self) -> set[str]:
        """Return the owners of all records of processes that haven't ended."""
        return {row["owner"] for row in await self.query("SELECT owner FROM processes WHERE expires_at > now()")}

    async def contents(self) -> Mapping[str, str | None]:
        """Return a digest of the rows of each table."""
        tables = await self.query(
            "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'"
        )
        digest = "SELECT md5(string_agg(each::text, '' ORDER BY each::text)) AS digest FROM {} AS each"
        return {row["name"]: (await self.query(digest.format(row["name"])))[0]["digest"] for row in tables}

    async def has_unsaved_answer(self, journey: Journey) -> Replica:
        """Cut a replica from PostgreSQL while it waits for the service's answer to a confirmation. Return it.

        It has the answer then, and can't save it.
        """
        await journey.goes_to_review()
        replica = await self.owner_of(journey.chat.id)
        async with hold_service(self.system, "delay_after", seconds=ANSWERED_AFTER):
            await journey.confirms(wait=0)
        replica.relay.refuse()
        await self.tries_to_save_answer(replica, journey)
        return replica

    async def tries_to_save_answer(self, replica: Replica, journey: Journey) -> None:
        """Wait until a replica has failed to save the service's answer to a user's confirmation."""
        (order,) = await self.query("SELECT reference FROM orders WHERE user_id = $1", journey.chat.id)

        async def has_tried() -> bool:
            tries = [line["order"] for line in replica.lines("retry_scheduled") if line["what"] == "save_answer"]
            return order["reference"] in tries

        await until(has_tried, what="a failure to save the answer")

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

    async def becomes_ready(self, replica: Replica, *, ready: bool) -> None:
        """Wait until the replica's page says that it is ready, or that it isn't."""
        await self.shows(replica, "readyz", httpx.codes.OK if ready else httpx.codes.SERVICE_UNAVAILABLE)

    async def shows(self, replica: Replica, page: str, status: int) -> Mapping[str, Any]:
        """Wait until a page of the replica answers with a status, and return what it says."""
        async with httpx.AsyncClient(base_url=f"http://{HOST}:{replica.environment['HTTP_PORT']}") as http:

            async def read() -> httpx.Response | None:
                with suppress(httpx.ConnectError):
                    return await http.get(f"/{page}", timeout=TIMEOUT_SECONDS)
                return None

            answer = await found(
                read, lambda got: got is not None and got.status_code == status, what=f"{page} {status}"
            )
        assert answer is not None
        said: Mapping[str, Any] = answer.json()
        return said

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

    async def restore(self) -> None:
        """Bring all replicas back: thawed, connected and running."""
        for each in self.replicas:
            each.relay.resume()
            each.telegram.resume()
            if each.is_frozen:
                each.thaw()
        await asyncio.gather(*(each.start() for each in self.replicas if not each.is_running))


async def replace(replicas: Iterable[Replica], program: str | None = None, **settings: str) -> None:
    """Stop replicas, and then start all of them, as another version or with other keys."""
    await asyncio.gather(*(each.stop() for each in replicas))
    await asyncio.gather(*(each.start(program, **settings) for each in replicas))


@asynccontextmanager
async def running_cluster(
    folder: Path,
    database: str,
    *,
    replicas: int = 3,
    telegram_limit: TotalLimit | None = None,
    **settings: str,
) -> AsyncIterator[Cluster]:
    """Run the servers and replicas on an empty database. `telegram_limit` None means that Telegram limits nothing."""
    await migrate.upgrade(database)
    await history.record(database)
    options = SandboxOptions(state=folder, page_port=0, service_port=0)
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
            await asyncio.gather(*(each.start() for each in made))
            yield cluster
        except BaseException:
            failure_report.failed(system)
            raise
        finally:
            failure_report.closed(system)
            await chat_record.stop(recording)
            await cluster.close()

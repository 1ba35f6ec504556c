"""Read and change the bot's database while the bot runs."""

import asyncio
import base64
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.db.vault import Vault
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.system import System
from tests.waiting import TIMEOUT_SECONDS, found


@asynccontextmanager
async def open_transaction(system: System) -> AsyncIterator[Transaction]:
    """Open a transaction on the bot's database."""
    keys = [base64.urlsafe_b64decode(system.environment["ENCRYPTION_KEYS"])]
    store = Database(system.environment["DATABASE_URL"], Vault(keys))
    async with store.transaction() as tx:
        yield tx
    await store.close()


def row_of(system: System, order: Json) -> dict[str, object]:
    """Return the bot's row of an order of the service, or an empty dictionary."""
    with closing(sqlite3.connect(system.state / "kirim.db")) as database:
        database.row_factory = sqlite3.Row
        row = database.execute("SELECT * FROM orders WHERE service_id = ?", (order["id"],)).fetchone()
    return dict(row) if row else {}


async def expire_order(system: System, order: Json) -> None:
    """Let an order's time to pay end, for the service and for the bot."""
    await system.service.does("expire", orderId=order["id"])
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}"
    # A new version keeps the bot from overwriting this with what it read before.
    expired = "UPDATE orders SET expires_at = :now, next_poll_at = :now, version = version + 1 WHERE service_id = :id"
    assert await change_rows(system, expired, {"now": now, "id": order["id"]}) == 1


async def wait_for_row(system: System, order: Json, **facts: object) -> None:
    """Wait until the bot's row of an order has these values."""

    async def row() -> dict[str, object]:
        return row_of(system, order)

    await found(row, lambda known: facts.items() <= known.items(), what=str(facts))


async def wait_until_undeliverable(system: System, user: ChatUser) -> None:
    """Wait until the bot has given up all notifications of this chat."""
    await _notifications_become(system, user.chat_id, {"undeliverable"})


async def wait_until_all_sent(system: System, user: ChatUser) -> None:
    """Wait until the bot has saved that all notifications of this chat are sent. A kill then repeats none."""
    await _notifications_become(system, user.chat_id, set())


async def _notifications_become(system: System, chat_id: int, wished: set[str]) -> None:
    known = "SELECT DISTINCT status FROM outbox WHERE chat_id = ? AND status != 'sent'"

    async def statuses() -> set[str]:
        with closing(sqlite3.connect(system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
            return {status for (status,) in database.execute(known, (chat_id,))}

    await found(statuses, lambda now: now == wished, what=f"{wished or 'sent'} in the outbox")


async def expire_drafts(system: System, user: ChatUser) -> None:
    """Make the user's open draft expire."""
    expired = "UPDATE drafts SET expires_at = '2026-01-01 00:00:00.000000' WHERE chat_id = :id AND status = 'open'"
    assert await change_rows(system, expired, {"id": user.id}) == 1


async def change_rows(system: System, statement: str, values: Mapping[str, object] | Sequence[object]) -> int:
    """Change the bot's database, and return how many rows changed.

    It waits for the bot's own transactions in a thread, because the bot can be in this process.
    """

    def change() -> int:
        with closing(sqlite3.connect(system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
            changed = database.execute(statement, values).rowcount
            database.commit()
        return changed

    return await asyncio.to_thread(change)

"""What the stories of looking up share: orders and the books they stand in, and who is written down to have looked."""

import base64
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.db.vault import Vault
from bot.orders.order import Phase, new_reference
from bot.orders.repository import OrderRepository
from tests.e2e.people import Newcomer, bot_knows, row_of, taps_to_invoice
from tests.e2e.world import Json, World
from tests.orders.builders import an_order

COMMANDS = ("/order {reference}", "/order {service_id}", "/person {user}", "/find bca today", "/tickets")


async def rina_of(shared_world: World, language: str = "en") -> Newcomer:
    """The supporter, in private."""
    rina = Newcomer(shared_world.telegram, shared_world.rina.id)
    await rina.speaks(language)
    return rina


async def orders(shared_world: World, user: Newcomer) -> tuple[str, Json]:
    """An order of Rp500,000 to BCA that waits for its payment; its reference and the service's order."""
    _, order = await taps_to_invoice(shared_world, user)
    await bot_knows(shared_world, order, phase="open")
    return str(row_of(shared_world, order)["reference"]), order


@asynccontextmanager
async def books(shared_world: World) -> AsyncIterator[Transaction]:
    """The bot's database, to put days gone by into it."""
    keys = [base64.urlsafe_b64decode(shared_world.environment["ENCRYPTION_KEYS"])]
    store = Database(shared_world.environment["DATABASE_URL"], Vault(keys))
    async with store.transaction() as tx:
        yield tx
    await store.close()


async def has_ordered(shared_world: World, user: Newcomer, count: int) -> None:
    """Orders that have ended, more than a person may have open at once."""
    async with books(shared_world) as tx:
        for number in range(count):
            facts: Json = {"phase": Phase.DONE, "state": "FAILED", "user_id": user.id, "chat_id": user.id}
            created_at = datetime.now(UTC) - timedelta(days=40, minutes=number)
            assert await OrderRepository(tx).add(
                an_order(new_reference(), number="1234567890", created_at=created_at, **facts)
            )


def looked(shared_world: World, subject: str = "") -> list[tuple[int, str, int]]:
    """Who looked at what of whom, as the audit trail says; oldest first."""
    with closing(sqlite3.connect(shared_world.state / "kirim.db")) as database:
        rows = database.execute("SELECT actor_id, subject, user_id FROM audit WHERE action = 'looked' ORDER BY id")
        return [row for row in rows if row[1].startswith(subject)]


def hides_the_recipient(message: Json) -> bool:
    return "1234567890" not in str(message)

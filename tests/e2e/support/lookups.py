"""Helpers for stories of lookups: orders, the bot's database, and the audit log."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

from bot.orders.order import Phase, new_reference
from bot.orders.repository import OrderRepository
from tests.e2e.bot_database import open_transaction, row_of, wait_for_row
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.system import System
from tests.orders.builders import an_order


async def open_rinas_chat(shared_system: System, language: str = "en") -> ChatUser:
    """Return the agent Rina in her private chat."""
    rina = ChatUser(shared_system.telegram, shared_system.rina.id)
    await rina.speaks(language)
    return rina


async def place_order(shared_system: System, user: ChatUser) -> tuple[str, Json]:
    """Place an order of Rp500,000 to BCA. Return its reference and the service's order."""
    _, order = await tap_to_invoice(shared_system, user)
    await wait_for_row(shared_system, order, phase="open")
    return str(row_of(shared_system, order)["reference"]), order


async def add_old_orders(shared_system: System, user: ChatUser, count: int) -> None:
    """Add orders that have ended, more than a user can have open at once."""
    async with open_transaction(shared_system) as tx:
        for number in range(count):
            facts: Json = {"phase": Phase.DONE, "state": "FAILED", "user_id": user.id, "chat_id": user.id}
            created_at = datetime.now(UTC) - timedelta(days=40, minutes=number)
            assert await OrderRepository(tx).add(
                an_order(new_reference(), number="1234567890", created_at=created_at, **facts)
            )


def lookups_in_audit_log(shared_system: System, subject: str = "") -> list[tuple[int, str, int]]:
    """Return the agent, subject and user of each audited lookup, oldest first."""
    with closing(sqlite3.connect(shared_system.state / "kirim.db")) as database:
        rows = database.execute("SELECT actor_id, subject, user_id FROM audit WHERE action = 'looked' ORDER BY id")
        return [row for row in rows if row[1].startswith(subject)]


def hides_recipient(message: Json) -> bool:
    return "1234567890" not in str(message)

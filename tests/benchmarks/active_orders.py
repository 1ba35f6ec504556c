"""Open orders, created at the service and inserted into the bot's database as newly confirmed ones."""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.orders.order import REFERENCE_ALPHABET, REFERENCE_LENGTH, Order, Phase, payer_in_chat
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderStep, PayoutMethod
from tests.benchmarks.sandbox_system import SandboxSystem
from tests.infra.keys import VAULT

PAID_STATE = "LN_INVOICE_PAID"
EXPIRES = timedelta(minutes=55)
AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Followed:
    """An active order, and the chat that is notified."""

    service_id: str
    chat_id: int


async def create_orders(system: SandboxSystem, count: int) -> list[str]:
    """Create unpaid orders at the service. Return their ids, oldest first."""
    ids: list[str] = []
    while len(ids) < count:
        answer = await system.service.does("bulk", count=min(AT_ONCE, count - len(ids)))
        ids += answer["orderIds"]
    return ids


async def insert_orders(system: SandboxSystem, ids: Sequence[str]) -> list[Followed]:
    """Insert orders of new users into the bot's database, with their first polls spread over some seconds."""
    chats = {service_id: await system.user(number) for number, service_id in enumerate(ids)}
    for user in chats.values():
        await system.says(user, "/start")
    store = Database(system.database, VAULT)
    await store.upgrade()
    async with store.transaction() as tx:
        for service_id, chat_id in chats.items():
            await OrderRepository(tx).add(an_order(service_id, chat_id))
    await store.close()
    return [Followed(service_id, chat_id) for service_id, chat_id in chats.items()]


def reference_of(service_id: str) -> str:
    """Return the reference of this order, in the form that buttons can hold. Ids of one service differ in it."""
    digest = hashlib.sha256(service_id.encode()).digest()
    return "".join(REFERENCE_ALPHABET[byte % len(REFERENCE_ALPHABET)] for byte in digest[:REFERENCE_LENGTH])


def an_order(service_id: str, chat_id: int) -> Order:
    """Return an unpaid order that was just confirmed."""
    now = datetime.now(UTC)
    return Order(
        reference=reference_of(service_id),
        payer=payer_in_chat(chat_id),
        draft_id=service_id,
        attempt=1,
        method=PayoutMethod("014", "BANK BCA", "bank", None),
        number="1234567890",
        holder=None,
        requested_amount=Amount("IDR", 150_000),
        channel="lightning",
        expected_sats=9_000,
        expected_idr=150_000,
        phase=Phase.OPEN,
        created_at=now,
        service_id=service_id,
        state="IDLE",
        step=OrderStep.CREATED,
        sats=9_000,
        idr=150_000,
        btc_idr=Decimal(1_666_666_666),
        bolt11="lnbcrt" + "q" * 300,
        expires_at=now + EXPIRES,
        next_poll_at=now + timedelta(seconds=random.uniform(0, 5)),
    )

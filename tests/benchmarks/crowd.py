"""Many active orders at once: in the service's books, and in the bot's as if their people had just confirmed them."""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.core.money import Amount
from bot.infra.db.database import Database
from bot.orders.order import REFERENCE_ALPHABET, REFERENCE_LENGTH, Order, Phase
from bot.orders.repository import OrderRepository
from bot.settlement.model import PayoutMethod
from bot.settlement.steps import OrderStep
from tests.benchmarks.stage import Stage
from tests.infra.keys import VAULT

PAID_STATE = "LN_INVOICE_PAID"
ELSEWHERE = 5_000_000_000
"""Chats of orders that nothing happens to: nobody need be there."""

EXPIRES = timedelta(minutes=55)
AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Followed:
    """One order under way, and the chat that hears of it."""

    service_id: str
    chat_id: int


async def make(hall: Stage, count: int, *, paid: bool = False) -> list[str]:
    """Orders of the service, unpaid or just paid; their ids, oldest first."""
    ids: list[str] = []
    while len(ids) < count:
        wish = {"count": min(AT_ONCE, count - len(ids))} | ({"state": PAID_STATE} if paid else {})
        answer = await hall.service.does("bulk", **wish)
        ids += answer["orderIds"]
    return ids


async def follow(
    hall: Stage, ids: Sequence[str], *, watched: Sequence[str], paid: bool = False, within: float = 5.0
) -> list[Followed]:
    """Let the bot follow orders, first looks spread over `within` seconds; those `watched` have a person."""
    chats = {service_id: await hall.user(number) for number, service_id in enumerate(watched)}
    for user in chats.values():
        await hall.says(user, "/start")
    store = Database(hall.database, VAULT)
    await store.upgrade()
    async with store.transaction() as tx:
        for number, service_id in enumerate(ids):
            chat_id = chats.get(service_id, ELSEWHERE + number)
            await OrderRepository(tx).add(an_order(service_id, chat_id, paid=paid, within=within))
    await store.close()
    return [Followed(service_id, chats[service_id]) for service_id in watched]


def reference_of(service_id: str) -> str:
    """Return the reference of this order, in the form that buttons can hold. Ids of one service differ in it."""
    digest = hashlib.sha256(service_id.encode()).digest()
    return "".join(REFERENCE_ALPHABET[byte % len(REFERENCE_ALPHABET)] for byte in digest[:REFERENCE_LENGTH])


def an_order(service_id: str, chat_id: int, *, paid: bool, within: float) -> Order:
    """One that was shown a moment ago, unpaid or just paid; first looked at `within` seconds."""
    now = datetime.now(UTC)
    return Order(
        reference=reference_of(service_id),
        user_id=chat_id,
        chat_id=chat_id,
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
        state=PAID_STATE if paid else "IDLE",
        step=OrderStep.PAID if paid else OrderStep.CREATED,
        sats=9_000,
        idr=150_000,
        btc_idr=Decimal(1_666_666_666),
        bolt11="lnbcrt" + "q" * 300,
        expires_at=now + EXPIRES,
        paid_at=now if paid else None,
        next_poll_at=now + timedelta(seconds=random.uniform(0, within)),
    )

"""Subscribers by the hundred, a confirmed broadcast to them, and what became of it."""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from bot.broadcasts.delivery_repository import DeliveryRepository
from bot.broadcasts.model import Broadcast, BroadcastStatus, DeliveryStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.infra.db.database import Database
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.e2e.system import System
from tests.infra.keys import VAULT
from tests.waiting import found

OPERATOR = 2001


async def add_subscribers(system: System, count: int, *, blocked: int = 0) -> list[int]:
    """People who have subscribed, of whom the first have blocked the bot since; their ids."""
    order = {"count": count, "blocked": blocked, "languages": ["en", "id"]}
    answer = await system.telegram.post("/sandbox/crowd", json=order)
    ids: list[int] = answer.raise_for_status().json()["ids"]
    now = datetime.now(UTC)
    store = opened(system)
    async with store.transaction() as tx:
        for number, user_id in enumerate(ids):
            await UserRepository(tx).save(User(id=user_id, language_code=("en", "id")[number % 2], created_at=now))
            await SubscriptionRepository(tx).save(Subscription(user_id=user_id, subscribed_at=now))
    await store.close()
    return ids


async def add_confirmed_broadcast(
    system: System, text: str = "Rates are up today", operator: int = OPERATOR
) -> Broadcast:
    """A broadcast as an operator's confirmation leaves it."""
    now = datetime.now(UTC)
    broadcast = Broadcast(
        id=secrets.token_hex(5),
        operator_id=operator,
        status=BroadcastStatus.SCHEDULED,
        is_rate=False,
        texts={"en": text, "id": f"{text} (id)"},
        starts_at=now,
        created_at=now,
        confirmed_at=now,
        confirmed_by=operator,
        chat_id=operator,
    )
    store = opened(system)
    async with store.transaction() as tx:
        await BroadcastRepository(tx).add(broadcast)
    await store.close()
    return broadcast


async def count_messages(system: System, readers: Sequence[int]) -> Counter[int]:
    """How many messages each of them has got."""
    audience = set(readers)
    sent = (call for call in await system.calls() if call["method"] == "sendMessage" and call["ok"])
    return Counter(call["chat_id"] for call in sent if call["chat_id"] in audience)


async def wait_until_reached(system: System, readers: Sequence[int], count: int) -> None:
    """Wait until so many of them have got their message."""
    await found(partial(count_messages, system, readers), lambda told: len(told) >= count, what=f"{count} messages")


async def wait_for_live_message(system: System, broadcast: Broadcast) -> None:
    """Wait until the bot has written down which message it edits: one that a kill keeps from that is sent anew."""
    await _becomes(system, broadcast, lambda kept: kept.message_id is not None)


async def wait_for_report(system: System, broadcast: Broadcast) -> dict[str, int]:
    """Wait for its end; how many deliveries ended how."""
    ended = await _becomes(system, broadcast, lambda kept: kept.report is not None)
    assert ended.report is not None
    return dict(ended.report)


async def _becomes(system: System, broadcast: Broadcast, fits: Callable[[Broadcast], bool]) -> Broadcast:
    store = opened(system)

    async def kept() -> Broadcast | None:
        async with store.reading() as tx:
            return await BroadcastRepository(tx).get(broadcast.id)

    try:
        known = await found(kept, lambda one: one is not None and fits(one), what="that of the broadcast")
    finally:
        await store.close()
    assert known is not None
    return known


async def users_with_status(system: System, broadcast: Broadcast, status: DeliveryStatus) -> set[int]:
    """Those in the ledger of whom this is written."""
    store = opened(system)
    async with store.reading() as tx:
        deliveries = await DeliveryRepository(tx).with_status(broadcast.id, status, 1_000)
    await store.close()
    return {each.user_id for each in deliveries}


async def count_subscribed(system: System) -> int:
    """How many are subscribed."""
    store = opened(system)
    async with store.reading() as tx:
        count = await SubscriptionRepository(tx).count()
    await store.close()
    return count


def opened(system: System) -> Database:
    """The bot's own database, beside it."""
    return Database(f"sqlite:///{system.state / 'kirim.db'}", VAULT)

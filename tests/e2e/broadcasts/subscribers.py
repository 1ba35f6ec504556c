"""Hundreds of subscribers, a confirmed broadcast to them, and its result."""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from bot.broadcasts.model import MAYBE_ARRIVED, Broadcast, BroadcastStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.infra.db.database import Database
from bot.infra.outbox.repository import OutboxRepository
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.e2e.system import System
from tests.infra.keys import VAULT
from tests.waiting import found

OPERATOR = 2001


async def add_subscribers(system: System, count: int, *, blocked: int = 0) -> list[int]:
    """Add subscribers, of whom the first `blocked` have blocked the bot since, and return their ids."""
    order = {"count": count, "blocked": blocked, "languages": ["en", "id"]}
    answer = await system.telegram.post("/sandbox/crowd", json=order)
    ids: list[int] = answer.raise_for_status().json()["ids"]
    now = datetime.now(UTC)
    store = open_database(system)
    async with store.transaction() as tx:
        for number, user_id in enumerate(ids):
            await UserRepository(tx).save(User(id=user_id, language_code=("en", "id")[number % 2], created_at=now))
            await SubscriptionRepository(tx).save(Subscription(user_id=user_id, subscribed_at=now))
    await store.close()
    return ids


async def add_confirmed_broadcast(
    system: System, text: str = "Rates are up today", operator: int = OPERATOR
) -> Broadcast:
    """Add a broadcast as if an operator had confirmed it."""
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
    store = open_database(system)
    async with store.transaction() as tx:
        await BroadcastRepository(tx).add(broadcast)
    await store.close()
    return broadcast


async def count_messages(system: System, readers: Sequence[int]) -> Counter[int]:
    """Return how many messages each of these readers got."""
    audience = set(readers)
    sent = (call for call in await system.calls() if call["method"] == "sendMessage" and call["ok"])
    return Counter(call["chat_id"] for call in sent if call["chat_id"] in audience)


async def wait_until_reached(system: System, readers: Sequence[int], count: int) -> None:
    """Wait until so many of the readers got their message."""
    await found(partial(count_messages, system, readers), lambda counts: len(counts) >= count, what=f"{count} messages")


async def wait_for_live_message(system: System, broadcast: Broadcast) -> None:
    """Wait until the bot has saved the id of the live message. Without the id, a killed bot sends a new message."""
    await _wait_for(system, broadcast, lambda load: load.message_id is not None)


async def wait_for_report(system: System, broadcast: Broadcast) -> dict[str, int]:
    """Wait until the broadcast has ended, and return its report."""
    ended = await _wait_for(system, broadcast, lambda load: load.report is not None)
    assert ended.report is not None
    return dict(ended.report)


async def _wait_for(system: System, broadcast: Broadcast, is_reached: Callable[[Broadcast], bool]) -> Broadcast:
    store = open_database(system)

    async def load() -> Broadcast | None:
        async with store.reading() as tx:
            return await BroadcastRepository(tx).get(broadcast.id)

    try:
        broadcast_now = await found(load, lambda one: one is not None and is_reached(one), what="that of the broadcast")
    finally:
        await store.close()
    assert broadcast_now is not None
    return broadcast_now


async def find_unknown(system: System, broadcast: Broadcast) -> set[int]:
    """Return the users whose message may have arrived."""
    store = open_database(system)
    async with store.reading() as tx:
        messages = await OutboxRepository(tx).find_by_subject(f"broadcast:{broadcast.id}")
    await store.close()
    return {each.chat_id for each in messages if each.failure == MAYBE_ARRIVED}


async def count_subscribed(system: System) -> int:
    """Return the number of subscribers."""
    store = open_database(system)
    async with store.reading() as tx:
        count = await SubscriptionRepository(tx).count()
    await store.close()
    return count


def open_database(system: System) -> Database:
    """Return another connection to the bot's database."""
    return Database(system.environment["DATABASE_URL"], VAULT)

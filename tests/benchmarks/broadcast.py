"""(h) A broadcast to 10,000 subscribers at Telegram's real limits, while users pay and are notified.

The sandbox's Telegram accepts 30 messages a second and rejects more. Its log of calls shows how long the broadcast
took. It is compared with the time of as many messages at exactly 30 a second. Users pay throughout the broadcast. Two
delays of their notifications are measured: from the service's change to the message in the chat, and from the commit
of the notification to Telegram's answer. The second one doesn't include the wait until the bot polls the service.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from sqlalchemy import select

from bot.broadcasts.model import Broadcast, BroadcastStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.infra.db.database import Database
from bot.infra.outbox.model import Notification
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.outbox.tables import outbox
from bot.orders.notifications import AboutOrder, OrderNotification
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.settlement.model import Quote
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.benchmarks import active_orders
from tests.benchmarks.active_orders import Followed
from tests.benchmarks.report import Row, Spread, seconds, times_as_much
from tests.benchmarks.sandbox_system import Json, SandboxSystem, open_system
from tests.infra.builders import all_notifications
from tests.infra.keys import VAULT
from tests.texts import like

SUBSCRIBERS, FEW_SUBSCRIBERS = 10_000, 600
PAYMENTS, FEW_PAYMENTS = 50, 5
PER_SECOND = 30
WITHIN = 2.0
OPERATOR = 2001
TO_BE_TOLD = (
    (active_orders.PAID_STATE, like("orders.notification.paid")),
    ("COMPLETED", like("orders.notification.sent_bank")),
)
MESSAGES = frozenset({"sendMessage", "sendPhoto"})
LOOK_EVERY = 10.0
TOO_MANY = 429


@dataclass(slots=True)
class Findings:
    """The measurements. `calls` come from Telegram's log. `pushes` and `deliveries` are delays in seconds."""

    calls: list[Json] = field(default_factory=list)
    pushes: list[float] = field(default_factory=list)
    deliveries: list[float] = field(default_factory=list)
    report: dict[str, int] = field(default_factory=dict)


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    subscribers, payments = (FEW_SUBSCRIBERS, FEW_PAYMENTS) if quick else (SUBSCRIBERS, PAYMENTS)
    async with open_system(telegram_limit="all") as system:
        system.environment["POLL_INTERVAL_SECONDS"] = "1"
        await system.says(OPERATOR, "/start")
        answer = await system.telegram.post("/sandbox/crowd", json={"count": subscribers, "languages": ["en", "id"]})
        readers: list[int] = answer.raise_for_status().json()["ids"]
        paying = await _payments(system, payments)
        store = Database(system.database, VAULT)
        await subscribe(store, readers)
        async with system.bot():
            await asyncio.sleep(3.0)  # the bot has answered the greetings by then
            await _show_cards(system, store, paying)
            found = await _watch(system, store, readers, paying)
        await store.close()
    return _rows(readers, payments, found)


async def _payments(system: SandboxSystem, count: int) -> list[Followed]:
    ids = await active_orders.create_orders(system, count)
    return await active_orders.insert_orders(system, ids)


async def _show_cards(system: SandboxSystem, store: Database, paying: Sequence[Followed]) -> None:
    """Make the bot's answer to each user's greeting the status message of their order, as after a confirmation."""
    now = datetime.now(UTC)
    async with store.transaction() as tx:
        for order in paying:
            reference = active_orders.reference_of(order.service_id)
            card = Notification(
                chat_id=order.chat_id,
                subject=f"order:{reference}",
                kind=OrderNotification.PAID,
                payload=AboutOrder(reference),
                due_at=now,
                created_at=now,
            )
            await OutboxRepository(tx).add([card])
        shown = {order.chat_id: system.chat_events.seen[order.chat_id][-1].message["message_id"] for order in paying}
        for notification in await all_notifications(tx):
            if notification.chat_id in shown and notification.kind == OrderNotification.PAID:
                await OutboxRepository(tx).record_sent({notification.id: shown[notification.chat_id]}, now)


async def subscribe(store: Database, readers: Sequence[int]) -> None:
    now = datetime.now(UTC)
    async with store.transaction() as tx:
        for number, user_id in enumerate(readers):
            await UserRepository(tx).save(User(id=user_id, language_code=("en", "id")[number % 2], created_at=now))
            await SubscriptionRepository(tx).save(Subscription(user_id=user_id, subscribed_at=now))


async def _watch(
    system: SandboxSystem, store: Database, readers: Sequence[int], paying: Sequence[Followed]
) -> Findings:
    found = Findings()
    broadcast = a_broadcast()
    async with store.transaction() as tx:
        await BroadcastRepository(tx).add(broadcast)
    lasts = len(readers) / PER_SECOND
    moments = sorted(random.uniform(2, lasts * 0.9) for _ in paying)
    watching = asyncio.create_task(_collect(system, found))
    delays = await asyncio.gather(*(_pay(system, order, at) for order, at in zip(paying, moments, strict=True)))
    found.pushes = [delay for each in delays for delay in each]
    async with asyncio.timeout(lasts * 2 + 60):
        while not found.report:
            await asyncio.sleep(0.5)
            async with store.reading() as tx:
                kept = await BroadcastRepository(tx).get(broadcast.id)
            found.report = dict((kept.report if kept else None) or {})
    await asyncio.sleep(LOOK_EVERY / 5)
    watching.cancel()
    await _collect_once(system, found)
    found.deliveries = await _delivery_delays(store, [order.chat_id for order in paying])
    return found


def a_broadcast() -> Broadcast:
    """Return a confirmed broadcast with the usual text."""
    now = datetime.now(UTC)
    return Broadcast(
        id=f"{random.getrandbits(40):010x}",
        operator_id=OPERATOR,
        status=BroadcastStatus.SCHEDULED,
        quote=Quote(Decimal(1_666_666_666), now, Decimal(16_300), "benchmark"),
        starts_at=now,
        created_at=now,
        confirmed_at=now,
        confirmed_by=OPERATOR,
        chat_id=OPERATOR,
    )


async def _pay(system: SandboxSystem, order: Followed, at: float) -> list[float]:
    """Pay an order at this time, and move it to its end. Return the delay of each notification."""
    await asyncio.sleep(at)
    delays = []
    for state, text in TO_BE_TOLD:
        began = time.perf_counter()
        if state == active_orders.PAID_STATE:
            await system.service.does("pay", orderId=order.service_id)
        else:
            await system.service.does("advance", orderId=order.service_id, state=state)
        delays.append((await system.chat_events.first(order.chat_id, text, began)).at - began)
        await asyncio.sleep(2.0)
    return delays


async def _collect(system: SandboxSystem, found: Findings) -> None:
    while True:
        await asyncio.sleep(LOOK_EVERY)
        await _collect_once(system, found)


async def _collect_once(system: SandboxSystem, found: Findings) -> None:
    after = found.calls[-1]["seq"] if found.calls else 0
    answer = await system.telegram.get("/sandbox/calls", params={"after": after})
    found.calls += answer.raise_for_status().json()["calls"]


async def _delivery_delays(store: Database, chats: Sequence[int]) -> list[float]:
    """Return the delays from each notification's commit to its message, for all users who paid."""
    async with store._reader.connect() as connection:
        found = await connection.execute(
            select(outbox.c.created_at, outbox.c.sent_at).where(
                outbox.c.chat_id.in_(chats), outbox.c.sent_at.is_not(None)
            )
        )
        delays = [(delivered - created).total_seconds() for created, delivered in found.tuples()]
    return [delay for delay in delays if delay > 0]  # the status messages were saved as sent


def _rows(readers: Sequence[int], payments: int, found: Findings) -> list[Row]:
    audience = set(readers)
    sent = [call for call in found.calls if call["method"] in MESSAGES and call["ok"]]
    reached = Counter(call["chat_id"] for call in sent if call["chat_id"] in audience)
    times = [call["at"] for call in sent if call["chat_id"] in audience]
    began, ended = min(times), max(times)
    meanwhile = sum(began <= call["at"] <= ended for call in sent)
    lasted, alone = ended - began, (len(times) - 1) / PER_SECOND
    refused = sum(call["error_code"] == TOO_MANY for call in found.calls)
    what = f"broadcast to {len(readers):,} subscribers while {payments} payments go through"
    return [
        Row(
            part="h",
            measured=f"{what}: from the first message to the last ({meanwhile:,} messages with the payments' own)",
            ours=seconds(lasted),
            versus=f"those {meanwhile:,} at {PER_SECOND}/s, Telegram's limit alone (calculated)",
            theirs=seconds((meanwhile - 1) / PER_SECOND),
            ratio=f"x{lasted * PER_SECOND / (meanwhile - 1):.3f}",
        ),
        Row(
            part="h",
            measured=f"{what}: the same beside the broadcast's own messages alone",
            ours=seconds(lasted),
            versus=f"{len(times):,} at {PER_SECOND}/s (calculated)",
            theirs=seconds(alone),
            ratio=f"x{lasted / alone:.3f}",
        ),
        Row(
            part="h",
            measured=f"{what}: 429s / received once / twice / never / listed as unknown",
            ours=f"{refused} / {sum(count == 1 for count in reached.values()):,}"
            f" / {sum(count > 1 for count in reached.values())} / {len(audience - reached.keys())}"
            f" / {found.report.get('unknown', 0)}",
        ),
        _delays(f"{what}: the service's change to its message in the chat", found.pushes),
        _delays(f"{what}: from saving a message to Telegram's answer", found.deliveries),
    ]


def _delays(what: str, delays: Sequence[float]) -> Row:
    spread = Spread.from_times(delays)
    return Row(
        part="h",
        measured=f"{what}, median / p99 / slowest of {len(delays)}",
        ours=f"{spread} / {seconds(spread.slowest)}",
        versus="asked for",
        theirs=seconds(WITHIN),
        ratio=times_as_much(spread.slowest, WITHIN),
    )

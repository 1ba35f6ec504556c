"""(h) A broadcast to 10,000 subscribers at Telegram's real limits, while people pay and hear of their money.

Telegram (the sandbox's) counts 30 messages a second in all and refuses what is more. How long it took is read from
its own log of calls; the limit's own time is what the same number of messages takes at exactly 30 a second. Payments
are made at moments all over the broadcast; what is told of them is timed from the service's change to the message in
the chat, and, without the time until the bot asks the service, from the commit of a notification to Telegram's answer.
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
from bot.orders.notifications.kinds import AboutOrder, OrderNotification
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.settlement.model import Quote
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.benchmarks import crowd
from tests.benchmarks.crowd import Followed
from tests.benchmarks.report import Row, Spread, seconds, times_as_much
from tests.benchmarks.stage import Json, Stage, stage
from tests.infra.keys import VAULT
from tests.texts import like

SUBSCRIBERS, FEW_SUBSCRIBERS = 10_000, 600
PAYMENTS, FEW_PAYMENTS = 50, 5
PER_SECOND = 30
WITHIN = 2.0
OPERATOR = 2001
TO_BE_TOLD = ((crowd.PAID_STATE, like("news.paid")), ("COMPLETED", like("news.sent_bank")))
MESSAGES = frozenset({"sendMessage", "sendPhoto"})
LOOK_EVERY = 10.0
TOO_MANY = 429


@dataclass(slots=True)
class Findings:
    """What was seen. `calls` are Telegram's own notes; `pushes` and `told` are delays in seconds."""

    calls: list[Json] = field(default_factory=list)
    pushes: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)
    report: dict[str, int] = field(default_factory=dict)


async def run(*, quick: bool) -> list[Row]:
    """The rows of this benchmark."""
    subscribers, payments = (FEW_SUBSCRIBERS, FEW_PAYMENTS) if quick else (SUBSCRIBERS, PAYMENTS)
    async with stage(telegram_limits=True) as hall:
        hall.environment["POLL_INTERVAL_SECONDS"] = "1"
        await hall.says(OPERATOR, "/start")
        answer = await hall.telegram.post("/sandbox/crowd", json={"count": subscribers, "languages": ["en", "id"]})
        readers: list[int] = answer.raise_for_status().json()["ids"]
        paying = await _payments(hall, payments)
        store = Database(hall.database, VAULT)
        await _subscribe(store, readers)
        async with hall.bot():
            await asyncio.sleep(3.0)  # the greetings have been answered by then
            await _show_cards(hall, store, paying)
            found = await _watch(hall, store, readers, paying)
        await store.close()
    return _rows(readers, payments, found)


async def _payments(hall: Stage, count: int) -> list[Followed]:
    ids = await crowd.make(hall, count)
    return await crowd.follow(hall, ids, watched=ids)


async def _show_cards(hall: Stage, store: Database, paying: Sequence[Followed]) -> None:
    """Each order has its live card, as if its person had confirmed it here: the answer to their greeting becomes it."""
    now = datetime.now(UTC)
    async with store.transaction() as tx:
        for order in paying:
            reference = crowd.reference_of(order.service_id)
            card = Notification(
                chat_id=order.chat_id,
                subject=f"order:{reference}",
                kind=OrderNotification.CARD,
                payload=AboutOrder(reference),
                due_at=now,
                created_at=now,
            )
            await OutboxRepository(tx).add([card])
        shown = {order.chat_id: hall.sights.seen[order.chat_id][-1].message["message_id"] for order in paying}
        for notification in await OutboxRepository(tx).find_heads(now, limit=2 * len(paying)):
            if notification.chat_id in shown and notification.kind == OrderNotification.CARD:
                await OutboxRepository(tx).record_sent(notification.id, shown[notification.chat_id], now)


async def _subscribe(store: Database, readers: Sequence[int]) -> None:
    now = datetime.now(UTC)
    async with store.transaction() as tx:
        for number, user_id in enumerate(readers):
            await UserRepository(tx).save(User(id=user_id, language_code=("en", "id")[number % 2], created_at=now))
            await SubscriptionRepository(tx).save(Subscription(user_id=user_id, subscribed_at=now))


async def _watch(hall: Stage, store: Database, readers: Sequence[int], paying: Sequence[Followed]) -> Findings:
    found = Findings()
    broadcast = a_broadcast()
    async with store.transaction() as tx:
        await BroadcastRepository(tx).add(broadcast)
    lasts = len(readers) / PER_SECOND
    moments = sorted(random.uniform(2, lasts * 0.9) for _ in paying)
    watching = asyncio.create_task(_collect(hall, found))
    delays = await asyncio.gather(*(_pay(hall, order, at) for order, at in zip(paying, moments, strict=True)))
    found.pushes = [delay for each in delays for delay in each]
    async with asyncio.timeout(lasts * 2 + 60):
        while not found.report:
            await asyncio.sleep(0.5)
            async with store.reading() as tx:
                kept = await BroadcastRepository(tx).get(broadcast.id)
            found.report = dict((kept.report if kept else None) or {})
    await asyncio.sleep(LOOK_EVERY / 5)
    watching.cancel()
    await _collect_once(hall, found)
    found.told = await _told(store, [order.chat_id for order in paying])
    return found


def a_broadcast() -> Broadcast:
    """The usual text, confirmed just now."""
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


async def _pay(hall: Stage, order: Followed, at: float) -> list[float]:
    """Pay at that moment and let it come to its end; how long after the service's change each notification came."""
    await asyncio.sleep(at)
    delays = []
    for state, text in TO_BE_TOLD:
        began = time.perf_counter()
        if state == crowd.PAID_STATE:
            await hall.service.does("pay", orderId=order.service_id)
        else:
            await hall.service.does("advance", orderId=order.service_id, state=state)
        delays.append((await hall.sights.first(order.chat_id, text, began)).at - began)
        await asyncio.sleep(2.0)
    return delays


async def _collect(hall: Stage, found: Findings) -> None:
    while True:
        await asyncio.sleep(LOOK_EVERY)
        await _collect_once(hall, found)


async def _collect_once(hall: Stage, found: Findings) -> None:
    after = found.calls[-1]["seq"] if found.calls else 0
    answer = await hall.telegram.get("/sandbox/calls", params={"after": after})
    found.calls += answer.raise_for_status().json()["calls"]


async def _told(store: Database, chats: Sequence[int]) -> list[float]:
    """From the commit that has the notification to its message's arrival, for all that the paying were told."""
    async with store._reader.connect() as connection:
        found = await connection.execute(
            select(outbox.c.created_at, outbox.c.sent_at).where(
                outbox.c.chat_id.in_(chats), outbox.c.sent_at.is_not(None)
            )
        )
        delays = [(told - created).total_seconds() for created, told in found.tuples()]
    return [delay for delay in delays if delay > 0]  # the cards were written down as told


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
        _delays(f"{what}: from saving a message to Telegram's answer", found.told),
    ]


def _delays(what: str, delays: Sequence[float]) -> Row:
    spread = Spread.of(delays)
    return Row(
        part="h",
        measured=f"{what}, median / p99 / slowest of {len(delays)}",
        ours=f"{spread} / {seconds(spread.slowest)}",
        versus="asked for",
        theirs=seconds(WITHIN),
        ratio=times_as_much(spread.slowest, WITHIN),
    )

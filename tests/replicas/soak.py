"""The soak: users without pause and broadcasts, while replicas fail at random, and then the audit.

Meanwhile all replicas are stopped and started three times: twice to change the keys, and as a newer version.
"""

import asyncio
import math
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from bot.infra.db.vault import generate_key
from tests.e2e.broadcasts.subscribers import add_confirmed_broadcast, add_subscribers, wait_for_report
from tests.e2e.chat_user import Json
from tests.e2e.programs import run_program
from tests.replicas.audit import Audit, audit
from tests.replicas.bots import NEXT_VERSION
from tests.replicas.chaos import Chaos, chaos
from tests.replicas.cluster import LEASE_SECONDS, Cluster, running_cluster
from tests.replicas.history import CHAT, LEADER, LeaseChange
from tests.replicas.journeys import Journey, new_journey

READERS = 400
BULK_PER_SECOND, REQUESTS_PER_SECOND = 30, 10
LOOK_EVERY_SECONDS = 2.0
SAY_EVERY_SECONDS = 30.0
BEAT_SECONDS = 0.01
LATEST = timedelta(seconds=1)
"""How much later than its lease's end a chat or the lead may pass on."""

CHECKED_SECONDS = 1.0
"""Rates are checked over so many seconds, and so many more as this program paused: then what was sent in a longer time
arrives together."""

ORDERS_PATH = "/v1/offramp/orders"
TOO_MANY = 429
BULK = frozenset({"sendMessage", "sendPhoto"})


@dataclass
class Traffic:
    """What the service and Telegram got: when the bot asked for orders (in Unix seconds), and what broadcasts did.

    `too_many` are the calls that Telegram rejected as too many, with their chats.
    `longest_pause` is how long this program, with its servers and relays, did nothing at once, in seconds.
    """

    longest_pause: float = 0.0
    requests: list[float] = field(default_factory=list)
    too_many: list[Json] = field(default_factory=list)
    bulk_twice: int = 0
    bulk_missed: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Result:
    """What the soak found."""

    audit: Audit
    chaos: Chaos
    traffic: Traffic
    updates: int
    bulk: Sequence[float]
    readers: frozenset[int]

    @property
    def takeovers(self) -> Sequence[LeaseChange]:
        """Return when a chat was taken from an owner that had not released it."""
        return self.audit.recorded.history.takeovers(CHAT)

    @property
    def leader_changes(self) -> Sequence[LeaseChange]:
        """Return when the lead was taken from one that had not released it."""
        return self.audit.recorded.history.takeovers(LEADER)


async def soak(
    database: str,
    folder: Path,
    *,
    minutes: float,
    replicas: int,
    seed: int,
    users: int = 16,
    orders: int = 0,
    readers: int = READERS,
) -> Result:
    """Run for some minutes, and until so many users have ordered. Then check everything.

    `users` is how many order at the same time.
    """
    old = generate_key()
    async with running_cluster(
        folder, database, replicas=replicas, telegram_limit="bulk", RECONCILE_SECONDS="2", ENCRYPTION_KEYS=old
    ) as cluster:
        await cluster.system.oscar.says("/start")
        traffic, journeys = Traffic(), list[Journey]()
        async with _watching(cluster, traffic, journeys):
            ends_at = time.monotonic() + minutes * 60
            ordering = asyncio.gather(
                _send_broadcasts(cluster, traffic, readers, ends_at),
                *(_order_without_pause(cluster, journeys, slot, ends_at, orders) for slot in range(users)),
            )
            async with chaos(cluster, seed) as failures:
                await _rotate_keys_and_upgrade(cluster, failures, folder, minutes * 60 / 4)
                await asyncio.sleep(ends_at - time.monotonic())
            await ordering
            await cluster.becomes_idle()
        found = await audit(cluster, journeys)
        subscribed = await cluster.query("SELECT DISTINCT user_id FROM subscriptions")
        reading = frozenset(row["user_id"] for row in subscribed)
        calls = [call for each in found.recorded.calls.values() for call in each]
        (counted,) = await cluster.query("SELECT count(*) AS updates FROM inbox")
        return Result(
            found,
            failures,
            traffic,
            counted["updates"],
            [call.at for call in calls if call.chat_id in reading and call.method in BULK],
            reading,
        )


async def _rotate_keys_and_upgrade(cluster: Cluster, failures: Chaos, folder: Path, pause: float) -> None:
    """Stop all replicas, and start all, as a rotation of the keys and an upgrade need it. Pause before each time."""
    replica = cluster.replicas[0]
    old, new = replica.environment["ENCRYPTION_KEYS"], generate_key()
    await asyncio.sleep(pause)
    await failures.replace_all(ENCRYPTION_KEYS=f"{new},{old}")
    environment = {**replica.environment, "DATABASE_URL": cluster.database}  # without its relay, which fails
    rotated = await run_program(folder, "rotate-keys", environment=environment)
    assert rotated.code == 0, rotated
    await asyncio.sleep(pause)
    await failures.replace_all(ENCRYPTION_KEYS=new)
    await asyncio.sleep(pause)
    await failures.replace_all(NEXT_VERSION)


async def _order_without_pause(
    cluster: Cluster, journeys: list[Journey], slot: int, ends_at: float, orders: int
) -> None:
    while time.monotonic() < ends_at or len(journeys) < orders:
        journey = await new_journey(cluster.system, is_typing_ahead=slot % 2 == 1)
        journeys.append(journey)
        await journey.tries_to_walk()


async def _send_broadcasts(cluster: Cluster, traffic: Traffic, count: int, ends_at: float) -> None:
    """Send one broadcast after another to the same readers, and count who got one twice or never."""
    readers = await add_subscribers(cluster.system, count)
    number = 0
    while time.monotonic() < ends_at:
        number += 1
        text = f"Broadcast {number} of the soak"
        broadcast = await add_confirmed_broadcast(cluster.system, text)
        try:
            report = await wait_for_report(cluster.system, broadcast)
        except AssertionError as error:
            traffic.problems.append(str(error))
            return
        got = [sum(text in message.text for message in cluster.record.messages(reader)) for reader in readers]
        traffic.bulk_twice += sum(count > 1 for count in got)
        # Users whose delivery is unknown are listed. An operator decides whether they get it again.
        traffic.bulk_missed += max(0, sum(count == 0 for count in got) - report.get("unknown", 0))


@asynccontextmanager
async def _watching(cluster: Cluster, traffic: Traffic, journeys: Sequence[Journey]) -> AsyncIterator[None]:
    tasks = [
        asyncio.create_task(_watch_service(cluster, traffic)),
        asyncio.create_task(_watch_telegram(cluster, traffic)),
        asyncio.create_task(_say_progress(journeys)),
        asyncio.create_task(_watch_pauses(traffic)),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _watch_service(cluster: Cluster, traffic: Traffic) -> None:
    known = 0
    while True:
        counted = await cluster.system.service.requests()
        recent, known = counted["recent"][: counted["total"] - known], counted["total"]
        traffic.requests += [
            datetime.fromisoformat(each["time"]).timestamp()
            for each in recent
            if each["method"] == "GET" and each["path"].startswith(ORDERS_PATH)
        ]
        await asyncio.sleep(LOOK_EVERY_SECONDS)


async def _watch_telegram(cluster: Cluster, traffic: Traffic) -> None:
    known = 0
    while True:
        answer = await cluster.system.telegram.get("/sandbox/calls", params={"after": known})
        calls = answer.raise_for_status().json()["calls"]
        known = calls[-1]["seq"] if calls else known
        traffic.too_many += [call for call in calls if call["error_code"] == TOO_MANY]
        await asyncio.sleep(LOOK_EVERY_SECONDS)


async def _watch_pauses(traffic: Traffic) -> None:
    while True:
        before = time.monotonic()
        await asyncio.sleep(BEAT_SECONDS)
        traffic.longest_pause = max(traffic.longest_pause, time.monotonic() - before - BEAT_SECONDS)


async def _say_progress(journeys: Sequence[Journey]) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(SAY_EVERY_SECONDS)
        ended = sum(journey.has_ended for journey in journeys)
        problems = sum(bool(journey.problems) for journey in journeys)
        sys.stderr.write(f"{time.monotonic() - began:5.0f} s: {ended} orders sent, {problems} with a problem\n")
        sys.stderr.flush()


def find_broken(result: Result) -> list[str]:
    """Return each promise that was broken."""
    traffic, broken = result.traffic, [*result.audit.broken, *result.traffic.problems]
    failed_at = [change.at for change in result.chaos.journal if change.failure is not None]
    for what, times, per_second in (
        ("messages of broadcasts", result.bulk, BULK_PER_SECOND),
        ("requests for orders", traffic.requests, REQUESTS_PER_SECOND),
    ):
        most = most_within(CHECKED_SECONDS, times)
        allowed = math.ceil(per_second * (CHECKED_SECONDS + traffic.longest_pause))
        if most > allowed:
            broken.append(f"{most} {what} within {CHECKED_SECONDS:g} s, and {allowed} are allowed")
    paused = timedelta(seconds=traffic.longest_pause)
    broken += [
        f"{change.lease} {change.key} passed on {change.seconds_late:.2f} s late at {_format_time(change.at)}"
        for change in (*result.takeovers, *result.leader_changes)
        if change.at > _latest_takeover(change, failed_at, result.chaos.replaced, paused)
    ]
    # One message to another chat can be: who takes a chat over doesn't know what was sent to it in the last second.
    broken += [
        f"Telegram rejected a broadcast as too many in chat {call['chat_id']}"
        for call in traffic.too_many
        if call["chat_id"] in result.readers
    ]
    if traffic.bulk_twice:
        broken.append(f"{traffic.bulk_twice} readers got a broadcast twice")
    if traffic.bulk_missed:
        broken.append(f"{traffic.bulk_missed} readers never got a broadcast, and aren't listed as unknown")
    return broken


def _latest_takeover(
    change: LeaseChange,
    failed_at: Sequence[datetime],
    replaced: Sequence[tuple[datetime, datetime]],
    paused: timedelta,
) -> datetime:
    """Return when a lease must have passed on.

    If another replica fails just as it takes over, its time counts, too. So does a pause of this program, because the
    replicas share its processors. While all replicas are replaced, nobody is there to take it.
    """
    waits_for = (end for began, end in replaced if began - LATEST <= change.could_be_taken_at <= end)
    latest = max([change.could_be_taken_at, *waits_for]) + LATEST + paused
    return max([latest, *(at + timedelta(seconds=LEASE_SECONDS) + LATEST + paused for at in failed_at if at < latest)])


def describe(result: Result) -> str:
    """Return the result as a Markdown table."""
    found, counts = result.audit, result.chaos.counts
    notifications = found.notifications
    rejected = sum(call["chat_id"] in result.readers for call in result.traffic.too_many)
    rows = {
        "replicas killed": counts["killed"],
        "replicas frozen for longer than the lease": counts["frozen"],
        "replicas whose backends were terminated": counts["backends terminated"],
        "replicas whose connections were cut": counts["connections cut"],
        "replicas whose connections stalled for longer than the lease": counts["stalled"],
        "replicas that ended on their own": counts["ended on their own"],
        "updates": result.updates,
        "orders placed / requests to place one": f"{found.orders} / {found.posts}",
        "orders posted twice": found.posted_twice,
        "conversations that went wrong": found.wrong_conversations,
        "questions that came again": found.repeated_questions,
        "notifications that came once / several times": f"{notifications['once']} / {notifications['several times']}",
        "copies of notifications without a mark": notifications["copies without a mark"],
        f"chats taken over: seconds after the lease of {LEASE_SECONDS:g} s, p50 / p99": _spread(result.takeovers),
        "leaders taken over from: the same": _spread(result.leader_changes),
        "broadcast messages, most within 1 s": _most(result.bulk),
        "readers with a broadcast twice / never": f"{result.traffic.bulk_twice} / {result.traffic.bulk_missed}",
        "messages that Telegram rejected as too many: broadcasts / others": (
            f"{rejected} / {len(result.traffic.too_many) - rejected}"
        ),
        "requests for orders, most within 1 s": _most(result.traffic.requests),
        "longest pause of this program (s)": f"{result.traffic.longest_pause:.2f}",
    }
    return "\n".join(("| measured | result |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())))


def most_within(seconds: float, times: Sequence[float]) -> int:
    """Return the largest number of these times within any so many seconds."""
    ordered, first, most = sorted(times), 0, 0
    for last, at in enumerate(ordered):
        while ordered[first] <= at - seconds:
            first += 1
        most = max(most, last - first + 1)
    return most


def _most(times: Sequence[float]) -> str:
    return f"{len(times)}, {most_within(CHECKED_SECONDS, times)}"


def _format_time(at: datetime) -> str:
    return f"{at:%H:%M:%S.%f}"


def _spread(changes: Sequence[LeaseChange]) -> str:
    if not changes:
        return "none"
    ordered = sorted(change.seconds_late for change in changes)
    p50, p99 = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.99))
    return f"{len(ordered)}: {p50:.2f} / {p99:.2f}"

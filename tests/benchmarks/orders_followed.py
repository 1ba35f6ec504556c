"""(b) 1 to 10,000 active orders: from the service's change to the push in the chat, and the requests spent on it.

The bot is a process of its own with its default settings (a look each 5 s, 10 requests a second). Of many orders a
few change: paid ones move on, the newest are paid, and some older ones are paid. The others are there to be asked
for. The comparison is reckoned: each order asked for by id, in turn, as fast as the budget allows.
"""

import asyncio
import math
import random
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tests.benchmarks import crowd
from tests.benchmarks.crowd import Followed
from tests.benchmarks.processes import Process, memory
from tests.benchmarks.report import Row, Spread, seconds, times_as_much
from tests.benchmarks.stage import Json, Stage, stage

INTERVAL, PER_SECOND = 5.0, 10.0
LISTED = 100
BY_ID = "/v1/offramp/orders/"
WATCHED = 10
ROAD = ("LN_SWAP_PENDING", "IDR_SETTLED", "COMPLETED")
"""Three changes that a person is told of."""

QUIET = 1.5
"""Seconds after which all that a change brings, the card and the message, has come."""

ROUNDS_ALONE, FEW_ROUNDS = 3, 1


@dataclass(frozen=True, slots=True)
class Size:
    """So many orders; changes happen for `changing` seconds, and are waited for until `watching` seconds are over."""

    orders: int
    changing: float
    watching: float


SIZES = (Size(100, 14, 22), Size(1_000, 24, 35), Size(10_000, 24, 36))
FEW = (Size(100, 3, 12), Size(300, 3, 15))


@dataclass(slots=True)
class Findings:
    """What was seen at one size. Delays in seconds, None for what was not seen while it was watched."""

    paid: list[float | None] = field(default_factory=list)
    newest: list[float | None] = field(default_factory=list)
    older: list[float | None] = field(default_factory=list)
    requests: float = 0.0
    busiest: int = 0
    unpaid_a_second: float = 0.0
    megabytes: float = 0.0


async def run(*, quick: bool) -> list[Row]:
    """The rows of this benchmark."""
    rows = _rows(1, 0, await _alone(FEW_ROUNDS if quick else ROUNDS_ALONE))
    for size in FEW if quick else SIZES:
        rows += _rows(size.orders, size.watching, await _among(size))
    return rows


async def _alone(rounds: int) -> Findings:
    """One order at a time, from its payment to its end."""
    found = Findings()
    async with stage() as hall, hall.bot() as process:
        await hall.control.delete("/control/requests")
        began = time.perf_counter()
        for _ in range(rounds):
            ids = await crowd.make(hall, 1)
            [order] = await crowd.follow(hall, ids, watched=ids)
            await asyncio.sleep(1 + random.uniform(0, INTERVAL))  # the greeting has been answered by then
            found.newest.append(await _pushed(hall, order, crowd.PAID_STATE, INTERVAL * 3))
            await asyncio.sleep(QUIET + random.uniform(0, INTERVAL))
            found.paid.append(await _pushed(hall, order, ROAD[-1], INTERVAL * 3))
        await _count(hall, found, time.perf_counter() - began)
        found.megabytes = memory(process)
    return found


async def _among(size: Size) -> Findings:
    async with stage() as hall:
        paid_ids = await crowd.make(hall, WATCHED, paid=True)
        ids = await crowd.make(hall, size.orders - WATCHED)
        older_ids = random.sample(ids[:-LISTED], WATCHED * 2) if len(ids) > LISTED + WATCHED * 2 else []
        whole_round = max(INTERVAL, size.orders / PER_SECOND)
        paid = await crowd.follow(hall, paid_ids, watched=paid_ids, paid=True)
        unpaid = await crowd.follow(hall, ids, watched=[*older_ids, *ids[-WATCHED:]], within=whole_round)
        async with hall.bot() as process:
            await asyncio.sleep(INTERVAL)  # for what was due at the start
            return await _watch(hall, process, size, (paid, unpaid[: len(older_ids)], unpaid[len(older_ids) :]))


async def _watch(hall: Stage, process: Process, size: Size, groups: tuple[list[Followed], ...]) -> Findings:
    paid, older, newest = groups
    found = Findings()
    await hall.control.delete("/control/requests")
    began = time.perf_counter()
    until = began + size.watching
    found.older, found.newest, *on_the_road = await asyncio.gather(
        _change_some(hall, older, size.changing / 3, until),
        _change_some(hall, newest, size.changing, until),
        *(_move_on(hall, order, size.changing, until) for order in paid),
    )
    found.paid = [delay for delays in on_the_road for delay in delays]
    await asyncio.sleep(until - time.perf_counter())
    await _count(hall, found, size.watching, but={order.service_id for order in paid})
    found.megabytes = memory(process)
    return found


async def _change_some(hall: Stage, orders: Sequence[Followed], spread: float, until: float) -> list[float | None]:
    """Each is paid at some moment of the next `spread` seconds."""

    async def one(order: Followed) -> float | None:
        await asyncio.sleep(random.uniform(0, spread))
        return await _pushed(hall, order, crowd.PAID_STATE, until - time.perf_counter())

    return await asyncio.gather(*map(one, orders))


async def _move_on(hall: Stage, order: Followed, spread: float, until: float) -> list[float | None]:
    """A paid order goes through its steps, each at some moment after the one before was told."""
    delays: list[float | None] = []
    for state in ROAD:
        await asyncio.sleep(QUIET + random.uniform(0, spread / len(ROAD)))
        delays.append(await _pushed(hall, order, state, until - time.perf_counter()))
    return delays


async def _pushed(hall: Stage, order: Followed, state: str, within: float) -> float | None:
    """Change an order at the service; seconds until its chat shows something new."""
    if within <= 0:
        return None
    began = time.perf_counter()
    if state == crowd.PAID_STATE:
        await hall.service.does("pay", orderId=order.service_id)
    else:
        await hall.service.does("advance", orderId=order.service_id, state=state)
    try:
        return (await hall.sights.first(order.chat_id, "", began, within)).at - began
    except TimeoutError:
        return None


async def _count(hall: Stage, found: Findings, within: float, but: Collection[str] = ()) -> None:
    counted: Json = await hall.service.requests()
    last_polled_at = {request["path"].partition(BY_ID)[2] for request in counted["recent"]} - {"", *but}
    found.unpaid_a_second = len(last_polled_at) / within
    at = sorted(datetime.fromisoformat(request["time"]).timestamp() for request in counted["recent"])
    found.requests = counted["total"] / within
    found.busiest = max((sum(moment <= other < moment + 1 for other in at) for moment in at), default=0)


def _rows(orders: int, watching: float, found: Findings) -> list[Row]:
    whole_round = max(INTERVAL, orders / PER_SECOND)
    versus = f"by id, in turn, at {PER_SECOND:.0f}/s (calculated)"
    rows = [
        _delay_row(f"{orders:,} active orders, {which}", delays, watching, versus, whole_round)
        for which, delays in (
            ("paid ones move on", found.paid),
            ("the newest are paid", found.newest),
            ("older ones are paid", found.older),
        )
        if delays
    ]
    if found.older:
        rows.append(_round_row(orders, found, versus, whole_round))
    rows.append(
        Row(
            part="b",
            measured=f"{orders:,} active orders: requests a second, on average (busiest second)",
            ours=f"{found.requests:.1f} ({found.busiest})",
            versus=f"each by id every {INTERVAL:.0f} s, without a budget (calculated)",
            theirs=f"{orders / INTERVAL:,.1f}",
            ratio=times_as_much(found.requests, orders / INTERVAL),
        )
    )
    rows.append(Row(part="e", measured=f"memory (RSS) with {orders:,} active orders", ours=f"{found.megabytes:.0f} MB"))
    return rows


def _round_row(orders: int, found: Findings, versus: str, whole_round: float) -> Row:
    """What a budget means where it is far too small: the rest of the round is extrapolated."""
    ours = orders / found.unpaid_a_second if found.unpaid_a_second else math.inf
    return Row(
        part="b",
        measured=f"{orders:,} active orders: until each unpaid one was requested once, except the newest {LISTED}",
        ours=f"{seconds(ours)} (extrapolated)",
        versus=versus,
        theirs=seconds(whole_round),
        ratio=times_as_much(ours, whole_round),
    )


def _delay_row(what: str, delays: Sequence[float | None], watching: float, versus: str, whole_round: float) -> Row:
    seen = [delay for delay in delays if delay is not None]
    missing = len(delays) - len(seen)
    figures = f"{Spread.of(seen)} / {seconds(max(seen))}" if seen else ""
    unseen = f" ({len(seen)} of {len(delays)} seen within {watching:.0f} s)" if missing else ""
    return Row(
        part="b",
        measured=f"{what}: delay of the push, median / p99 / slowest",
        ours=(figures + unseen).strip(),
        versus=versus,
        theirs=f"{seconds(whole_round / 2)} / {seconds(whole_round * 0.99)} / {seconds(whole_round)}",
        ratio="" if missing else times_as_much(Spread.of(seen).median, whole_round / 2),
    )

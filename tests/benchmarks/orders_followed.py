"""(b) 1 to 10,000 active orders: from the service's change to the push in the chat, and the requests spent on it.

The bot is a separate process with its default settings (a poll every 5 s, 10 requests a second). Of many orders a few
change: paid ones advance, and the newest and some older ones are paid. The others only cost requests. The comparison is
computed: each order read by id, in turn, as fast as the budget allows.
"""

import asyncio
import math
import random
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tests.benchmarks import active_orders
from tests.benchmarks.active_orders import Followed
from tests.benchmarks.processes import Process, memory
from tests.benchmarks.report import Row, Spread, seconds, times_as_much
from tests.benchmarks.sandbox_system import Json, SandboxSystem, open_system

INTERVAL, PER_SECOND = 5.0, 10.0
LISTED = 100
BY_ID = "/v1/offramp/orders/"
WATCHED = 10
ROAD = ("LN_SWAP_PENDING", "IDR_SETTLED", "COMPLETED")
"""Three changes that users are notified of."""

QUIET = 1.5
"""Seconds after which both the status message and the notification of a change have arrived."""

ROUNDS_ALONE, FEW_ROUNDS = 3, 1


@dataclass(frozen=True, slots=True)
class Size:
    """A run with `orders` that change for `changing` seconds. Their messages are awaited for `watching` seconds."""

    orders: int
    changing: float
    watching: float


SIZES = (Size(100, 14, 22), Size(1_000, 24, 35), Size(10_000, 24, 36))
FEW = (Size(100, 3, 12), Size(300, 3, 15))


@dataclass(slots=True)
class Findings:
    """The measurements at one size. Delays are in seconds, or None if nothing arrived in time."""

    paid: list[float | None] = field(default_factory=list)
    newest: list[float | None] = field(default_factory=list)
    older: list[float | None] = field(default_factory=list)
    requests: float = 0.0
    busiest: int = 0
    unpaid_a_second: float = 0.0
    megabytes: float = 0.0


async def run(*, quick: bool) -> list[Row]:
    """Run the benchmark. Return its rows."""
    rows = _rows(1, 0, await _alone(FEW_ROUNDS if quick else ROUNDS_ALONE))
    for size in FEW if quick else SIZES:
        rows += _rows(size.orders, size.watching, await _among(size))
    return rows


async def _alone(rounds: int) -> Findings:
    """Measure one order at a time, from its payment to its end."""
    found = Findings()
    async with open_system() as system, system.bot() as process:
        await system.control.delete("/control/requests")
        began = time.perf_counter()
        for _ in range(rounds):
            ids = await active_orders.create_orders(system, 1)
            [order] = await active_orders.insert_orders(system, ids, watched=ids)
            await asyncio.sleep(1 + random.uniform(0, INTERVAL))  # the bot has answered the greeting by then
            found.newest.append(await _pushed(system, order, active_orders.PAID_STATE, INTERVAL * 3))
            await asyncio.sleep(QUIET + random.uniform(0, INTERVAL))
            found.paid.append(await _pushed(system, order, ROAD[-1], INTERVAL * 3))
        await _count(system, found, time.perf_counter() - began)
        found.megabytes = memory(process)
    return found


async def _among(size: Size) -> Findings:
    async with open_system() as system:
        paid_ids = await active_orders.create_orders(system, WATCHED, paid=True)
        ids = await active_orders.create_orders(system, size.orders - WATCHED)
        older_ids = random.sample(ids[:-LISTED], WATCHED * 2) if len(ids) > LISTED + WATCHED * 2 else []
        whole_round = max(INTERVAL, size.orders / PER_SECOND)
        paid = await active_orders.insert_orders(system, paid_ids, watched=paid_ids, paid=True)
        unpaid = await active_orders.insert_orders(
            system, ids, watched=[*older_ids, *ids[-WATCHED:]], within=whole_round
        )
        async with system.bot() as process:
            await asyncio.sleep(INTERVAL)  # for polls that were due at the start
            return await _watch(system, process, size, (paid, unpaid[: len(older_ids)], unpaid[len(older_ids) :]))


async def _watch(system: SandboxSystem, process: Process, size: Size, groups: tuple[list[Followed], ...]) -> Findings:
    paid, older, newest = groups
    found = Findings()
    await system.control.delete("/control/requests")
    began = time.perf_counter()
    until = began + size.watching
    found.older, found.newest, *on_the_road = await asyncio.gather(
        _change_some(system, older, size.changing / 3, until),
        _change_some(system, newest, size.changing, until),
        *(_move_on(system, order, size.changing, until) for order in paid),
    )
    found.paid = [delay for delays in on_the_road for delay in delays]
    await asyncio.sleep(until - time.perf_counter())
    await _count(system, found, size.watching, but={order.service_id for order in paid})
    found.megabytes = memory(process)
    return found


async def _change_some(
    system: SandboxSystem, orders: Sequence[Followed], spread: float, until: float
) -> list[float | None]:
    """Pay each order at a random time within the next `spread` seconds."""

    async def one(order: Followed) -> float | None:
        await asyncio.sleep(random.uniform(0, spread))
        return await _pushed(system, order, active_orders.PAID_STATE, until - time.perf_counter())

    return await asyncio.gather(*map(one, orders))


async def _move_on(system: SandboxSystem, order: Followed, spread: float, until: float) -> list[float | None]:
    """Move a paid order through its steps, each at a random time after the notification of the one before."""
    delays: list[float | None] = []
    for state in ROAD:
        await asyncio.sleep(QUIET + random.uniform(0, spread / len(ROAD)))
        delays.append(await _pushed(system, order, state, until - time.perf_counter()))
    return delays


async def _pushed(system: SandboxSystem, order: Followed, state: str, within: float) -> float | None:
    """Change an order at the service. Return the seconds until its chat shows something new."""
    if within <= 0:
        return None
    began = time.perf_counter()
    if state == active_orders.PAID_STATE:
        await system.service.does("pay", orderId=order.service_id)
    else:
        await system.service.does("advance", orderId=order.service_id, state=state)
    try:
        return (await system.chat_events.first(order.chat_id, "", began, within)).at - began
    except TimeoutError:
        return None


async def _count(system: SandboxSystem, found: Findings, within: float, but: Collection[str] = ()) -> None:
    counted: Json = await system.service.requests()
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
    """Return the row for a budget that is far too small. The rest of the round is extrapolated."""
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
    figures = f"{Spread.from_times(seen)} / {seconds(max(seen))}" if seen else ""
    unseen = f" ({len(seen)} of {len(delays)} seen within {watching:.0f} s)" if missing else ""
    return Row(
        part="b",
        measured=f"{what}: delay of the push, median / p99 / slowest",
        ours=(figures + unseen).strip(),
        versus=versus,
        theirs=f"{seconds(whole_round / 2)} / {seconds(whole_round * 0.99)} / {seconds(whole_round)}",
        ratio="" if missing else times_as_much(Spread.from_times(seen).median, whole_round / 2),
    )

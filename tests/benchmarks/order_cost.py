"""(c) What one order costs from /send to its receipt: processor time, calls, transactions, before and after.

The bot is a separate process beside the sandbox. Some users order at once: five updates to the review, the
confirmation, the invoice, the payment, the service's four states after it, and the receipt. The same users and steps
are run on a bot of an earlier commit, in rounds that alternate with those of this one, so that both meet the same load
of the machine. Processor time is that of the bot's process, and includes what it does without any order.
"""

import asyncio
import itertools
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks import bare_order, counted_bot, skeleton
from tests.benchmarks.bot_api_stub import Stub, serving
from tests.benchmarks.older_version import BEFORE, ROOT, older_version
from tests.benchmarks.processes import Process, processor_seconds, running, until
from tests.benchmarks.report import Row, times_as_much
from tests.benchmarks.sandbox_system import Json, SandboxSystem, open_system
from tests.benchmarks.whole_bot import WAY, Step, act, walk
from tests.texts import label, like

ROUNDS, FEW_ROUNDS = 5, 1
ORDERS, FEW_ORDERS = 20, 4
CONFIRM = Step(f"[{label('checkout.review.confirm')}]", like("orders.status_message.waiting"))
STATES = ("LN_INVOICE_PAID", "LN_SWAP_PENDING", "USDT_RECEIVED", "IDR_SETTLED", "COMPLETED")
FLOOR_SECONDS = 120.0
SEEN_WITHIN = 1.6
"""Seconds after which the bot has polled an order again and sent what it has to say."""

RECEIPT = like("orders.notification.sent_bank")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one order cost on average: processor time in milliseconds, and counts."""

    to_review: float
    to_invoice: float
    to_receipt: float
    messages: float
    edits: float
    other_calls: float
    requests: float
    writes: float
    reads: float

    @property
    def milliseconds(self) -> float:
        """Return the processor time of the whole order."""
        return self.to_review + self.to_invoice + self.to_receipt

    @property
    def an_update(self) -> float:
        """Return the processor time of one update on the way to the review."""
        return self.to_review / len(WAY)


@dataclass(slots=True)
class Bot:
    """A running bot, with what was measured so far."""

    system: SandboxSystem
    process: Process
    counts: Path
    costs: list[Cost] = field(default_factory=list)

    def milliseconds(self) -> float:
        """Return the processor time so far."""
        return processor_seconds(self.process) * 1000

    def transactions(self) -> tuple[int, int]:
        """Return how many transactions wrote and only read so far."""
        writes, reads = counted_bot.NUMBERS.unpack(self.counts.read_bytes())
        return writes, reads


async def run(*, quick: bool, before: str = BEFORE) -> list[Row]:
    """Run the benchmark, with the commit `before` beside this one. Return its rows."""
    rounds, orders = (FEW_ROUNDS, FEW_ORDERS) if quick else (ROUNDS, ORDERS)
    with older_version(before) as earlier:
        async with AsyncExitStack() as stack:
            bots = [await stack.enter_async_context(_running(folder)) for folder in (ROOT, earlier) if folder]
            for bot in bots:
                await _measure(bot, 2)  # fills the caches
            for _ in range(rounds):
                for bot in bots:
                    bot.costs.append(await _measure(bot, orders))
    ours = bots[0].costs
    writes, reads = (statistics.median(getattr(cost, name) for cost in ours) for name in ("writes", "reads"))
    floors = [await _measure_floor(orders, writes, reads) for _ in range(rounds)]
    return [*_rows(ours, bots[1].costs if len(bots) > 1 else None, before), _compare_with_floor(ours, floors)]


async def _measure_floor(orders: int, writes: float, reads: float) -> float:
    """Return the processor time of an order by `bare_order`, with as many transactions, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "bot.log"
        stub = OrderStub(updates=bare_order.list_updates(bare_order.WARM_UP, first_chat=1), orders=bare_order.WARM_UP)
        async with serving(stub):
            arguments = (bare_order.__name__, stub.address, f"{folder}/bare.db", str(writes), str(reads))
            async with running(*arguments, log=log) as process:
                await until(stub.done, process, log, FLOOR_SECONDS)
                before = processor_seconds(process)
                stub.begin(bare_order.list_updates(bare_order.WARM_UP + orders, first_chat=1))
                await until(stub.done, process, log, FLOOR_SECONDS)
                return (processor_seconds(process) - before) * 1000 / orders


def _compare_with_floor(ours: Sequence[Cost], floors: Sequence[float]) -> Row:
    cost, floor = statistics.median(each.milliseconds for each in ours), statistics.median(floors)
    return Row(
        part="c",
        measured="one order: processor time, from /send to the receipt",
        ours=f"{cost:.1f} ms",
        versus="the same calls and transactions by python-telegram-bot and SQLite alone",
        theirs=f"{floor:.1f} ms",
        ratio=times_as_much(cost, floor),
    )


@dataclass(slots=True)
class OrderStub(Stub):
    """Answers the calls of orders. It is done when each order has its pictures."""

    orders: int = 0
    photos: int = 0

    def begin(self, updates: Sequence[Json]) -> None:
        """Deliver more updates: these, without those that were acknowledged."""
        self.updates, self.orders = updates, len(updates) // len(bare_order.ANSWERS)
        self.done.clear()

    def respond(self, path: str, body: bytes) -> tuple[bytes, float]:
        """Answer a call as Telegram does, with the whole message."""
        method = path.partition("?")[0].rpartition("/")[2].lower()
        if not method.startswith(("send", "edit")):
            return Stub.respond(self, path, body)
        self.photos += method == "sendphoto"
        if self.photos == self.orders * bare_order.PHOTOS:
            self.done.set()
        sent = skeleton.message(1, 1, bare_order.TEXT, sender=skeleton.ME)
        return json.dumps({"ok": True, "result": sent}).encode(), 0.0


@asynccontextmanager
async def _running(folder: Path) -> AsyncIterator[Bot]:
    async with open_system() as system:
        counts = system.folder / "transactions"
        settings = {
            "PYTHONPATH": str(folder),
            counted_bot.FILE: str(counts),
            "POLL_INTERVAL_SECONDS": "1",
            "CHAT_MESSAGES_PER_SECOND": "30",
        }
        async with system.program(counted_bot.__file__, "run", **settings) as process:
            yield Bot(system, process, counts)


async def _measure(bot: Bot, orders: int) -> Cost:
    """Let new users make an order each, from /send to the receipt."""
    system = bot.system
    people = [await system.user(number) for number in range(orders)]
    first_call = (await _calls(system))[-1]["seq"]
    await system.control.delete("/control/requests")
    writes, reads = bot.transactions()
    times = [bot.milliseconds()]
    await asyncio.gather(*(walk(system, user, WAY) for user in people))
    times.append(bot.milliseconds())
    known = {order["id"] for order in await system.service.orders()}
    await asyncio.gather(*(_confirm(system, user) for user in people))
    times.append(bot.milliseconds())
    placed = [order["id"] for order in await system.service.orders() if order["id"] not in known]
    await _complete(system, placed, people)
    times.append(bot.milliseconds())
    methods = [call["method"] for call in await _calls(system, after=first_call)]
    messages = sum(method.startswith("send") for method in methods)
    edits = sum(method.startswith(("edit", "delete")) for method in methods)
    others = len(methods) - messages - edits - methods.count("getUpdates")
    requests = int((await system.service.requests())["total"])
    new_writes, new_reads = bot.transactions()
    to_review, to_invoice, to_receipt = ((after - before) / orders for before, after in itertools.pairwise(times))
    return Cost(
        to_review=to_review,
        to_invoice=to_invoice,
        to_receipt=to_receipt,
        messages=messages / orders,
        edits=edits / orders,
        other_calls=others / orders,
        requests=requests / orders,
        writes=(new_writes - writes) / orders,
        reads=(new_reads - reads) / orders,
    )


async def _calls(system: SandboxSystem, after: int = 0) -> list[Json]:
    answer = await system.telegram.get("/sandbox/calls", params={"after": after})
    found: list[Json] = answer.raise_for_status().json()["calls"]
    return found


async def _confirm(system: SandboxSystem, user: int) -> None:
    began = time.perf_counter()
    review = await system.chat_events.first(user, WAY[-1].sees, 0)
    await act(system, user, CONFIRM, review.message)
    await system.chat_events.first(user, CONFIRM.sees, began)


async def _complete(system: SandboxSystem, orders: Sequence[str], people: Sequence[int]) -> None:
    """Let the service report the payment and the later states, and wait for the receipts."""
    began = time.perf_counter()
    for state in STATES:
        await system.service.does("advance", orderIds=orders, state=state)
        await asyncio.sleep(SEEN_WITHIN)
    await asyncio.gather(*(system.chat_events.first(user, RECEIPT, began) for user in people))


def _rows(now: Sequence[Cost], before: Sequence[Cost] | None, commit: str) -> list[Row]:
    versus = f"commit {commit}" if before else f"commit {commit}, which this clone doesn't have"

    def row(what: str, read: Callable[[Cost], float], unit: str = "") -> Row:
        ours = statistics.median(map(read, now))
        theirs = statistics.median(map(read, before)) if before else None
        return Row(
            part="c",
            measured=f"one order: {what}",
            ours=f"{ours:.1f}{unit}",
            versus=versus,
            theirs="" if theirs is None else f"{theirs:.1f}{unit}",
            ratio="" if theirs is None else times_as_much(ours, theirs),
        )

    return [
        row("processor time, from /send to the receipt", lambda cost: cost.milliseconds, " ms"),
        row(f"processor time of one of the {len(WAY)} updates to the review", lambda cost: cost.an_update, " ms"),
        row("processor time, from the confirmation to the invoice", lambda cost: cost.to_invoice, " ms"),
        row("processor time, from the payment to the receipt", lambda cost: cost.to_receipt, " ms"),
        row("messages sent", lambda cost: cost.messages),
        row("messages edited or deleted", lambda cost: cost.edits),
        row("other calls of Telegram", lambda cost: cost.other_calls),
        row("requests to the service", lambda cost: cost.requests),
        row("transactions that write", lambda cost: cost.writes),
        row("transactions that only read", lambda cost: cost.reads),
    ]

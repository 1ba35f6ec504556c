"""The one request for an order, in a process that stands still, sleeps, or ends."""

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bot.core.money import Amount
from bot.infra.db.errors import StoreDown
from bot.infra.db.fence import FENCE, LeaseLost
from bot.infra.db.transaction import Transaction
from bot.orders.order import Order, Phase
from bot.orders.placement.submission import ANSWER_SECONDS, SAVE_SECONDS
from bot.settlement.model import CreatedOrder, MaySend, OrderRequest
from tests.examples import kill_every
from tests.orders.order_system import OrderSystem
from tests.orders.stepped_loop import SteppedLoop
from tests.settlement.builders import at_any_time
from tests.settlement.fake_settlement import FakeSettlement, MovedClock

STANDS_STILL = 42.0
"""Others wait 35 seconds for the request."""


class SlowToConnect(FakeSettlement):
    """A service to which the connection takes some turns of the event loop, in which `happens` happens once."""

    def __init__(self, clock: MovedClock, happens: Callable[[], object] = lambda: None, turns: int = 3) -> None:
        super().__init__(clock)
        self.happens, self.turns = happens, turns

    async def place(self, request: OrderRequest, may_send: MaySend = at_any_time) -> CreatedOrder:
        for _ in range(self.turns):
            await asyncio.sleep(0)
        self.happens()
        created = await super().place(request, may_send)
        for _ in range(self.turns):
            await asyncio.sleep(0)
        return created

    async def newest(self, limit: int = 100, *, retry: bool = False) -> Any:
        for _ in range(self.turns):
            await asyncio.sleep(0)
        return await super().newest(limit, retry=retry)


@pytest.fixture
def service() -> SlowToConnect:
    return SlowToConnect(MovedClock())


@pytest.mark.parametrize(
    ("of_day", "uptime", "is_sent"),
    [
        pytest.param(14, 14, True, id="slow"),
        pytest.param(15, 15, False, id="too slow"),
        pytest.param(STANDS_STILL, STANDS_STILL, False, id="frozen, or the machine slept"),
        pytest.param(STANDS_STILL - 60, STANDS_STILL, False, id="frozen, and NTP set the clock back"),
        pytest.param(STANDS_STILL, 0, False, id="a virtual machine was stopped"),
        pytest.param(-60, 1, True, id="NTP set the clock back"),
        pytest.param(180, 1, False, id="NTP set the clock forward"),
    ],
)
async def test_a_request_is_sent_only_within_its_time_by_every_clock(
    system: OrderSystem, service: SlowToConnect, of_day: float, uptime: float, *, is_sent: bool
) -> None:
    up = 1000.0

    def pass_time() -> None:
        nonlocal up
        up += uptime
        system.clock.passes(seconds=of_day)

    service.happens = pass_time
    system.orders.submission._seconds = lambda: up
    order = await system.place()
    assert service.times("place") == (1 if is_sent else 0)
    assert order.phase is (Phase.OPEN if is_sent else Phase.REFUSED)


async def test_the_customer_hears_that_nothing_was_created_and_others_do_not_look_for_it(
    system: OrderSystem, other_system: OrderSystem, service: SlowToConnect
) -> None:
    service.happens = lambda: system.clock.passes(seconds=STANDS_STILL)
    order = await system.place()
    await system.deliver()
    assert system.sender.kinds() == ["refused"]
    await other_system.find_lost_orders(after=120)
    assert (await other_system.order(order.reference)).phase is Phase.REFUSED
    assert other_system.sender.kinds() == []


class LosableLease:
    """The lease under which an order is confirmed."""

    is_held = True

    def lose(self) -> None:
        self.is_held = False

    async def check(self, _: Transaction) -> None:
        if not self.is_held:
            raise LeaseLost


async def test_an_answer_is_saved_although_its_chat_has_gone_to_another_process(
    system: OrderSystem, service: SlowToConnect
) -> None:
    lease = LosableLease()
    service.happens = lease.lose
    token = FENCE.set(lease)
    try:
        order = await system.place()
    finally:
        FENCE.reset(token)
    assert not lease.is_held
    assert order.phase is Phase.OPEN


class Turns:
    """A process on a loop that the test moves turn by turn."""

    def __init__(self, database: str, service: SlowToConnect) -> None:
        self.clock = service.clock
        self.service = service
        self.loop = SteppedLoop(self.clock)
        asyncio.set_event_loop(self.loop)
        self.system = OrderSystem(database, service)
        self._chats = iter(range(5001, 10**6))

    def close(self) -> None:
        self.loop.run_until_complete(self.system.close())
        asyncio.set_event_loop(None)
        self.loop.close()

    def begin(self, **changes: Any) -> tuple[Order, asyncio.Task[None]]:
        """Save an intent. Return it with the task of its request, which hasn't begun."""
        chat_id = next(self._chats)
        amount = Amount("IDR", 2_000 * chat_id)  # no two deposits are the same
        draft = self.loop.run_until_complete(self.system.draft(chat_id, amount=amount, **changes))
        order = self.loop.run_until_complete(self._confirm(draft))
        return order, self.system.orders.submission._tasks[order.reference]

    async def _confirm(self, draft: Any) -> Order:
        return await self.system.confirm(draft)

    def turn(self) -> None:
        """Run everything that is ready once."""
        self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass in small steps, until everything waits."""
        for _ in range(round(seconds / 0.05)):
            self.loop.run_until_idle()
            self.clock.passes(seconds=0.05)
        self.loop.run_until_idle()

    def order(self, order: Order) -> Order:
        return self.loop.run_until_complete(self.system.order(order.reference))


@pytest.fixture
def turns(file: str, service: SlowToConnect, sqlite_in_the_loop: None) -> Iterator[Turns]:  # noqa: ARG001
    process = Turns(file, service)
    yield process
    process.close()


def cancel_at_each_turn(turns: Turns, check: Callable[[Order, int], None], *, times: int = 1, **changes: Any) -> int:
    """Cancel the task of an order's request in each turn of the loop. Return how many turns it takes to end."""
    for at in range(1, 10_000, kill_every()):
        order, task = turns.begin(**changes)
        for _ in range(at):
            turns.turn()
        is_over = task.done()
        for _ in range(times):
            task.cancel()
            turns.turn()
        turns.pass_seconds(ANSWER_SECONDS + SAVE_SECONDS)
        assert task.done(), f"it doesn't end: {at}"
        check(order, at)
        if is_over:
            return at
    raise AssertionError("the request never ended")


@pytest.mark.parametrize("times", [1, 2, 3])
def test_an_answer_that_has_arrived_is_saved_wherever_the_process_was_cancelled(turns: Turns, times: int) -> None:
    created = 0

    def check(order: Order, at: int) -> None:
        nonlocal created
        made, created = len(turns.service.records) - created, len(turns.service.records)
        known = turns.order(order)
        assert known.phase is (Phase.OPEN if made else Phase.REFUSED), f"cancelled in turn {at}: {known.phase}"
        assert (known.service_id is not None) is bool(made)

    assert cancel_at_each_turn(turns, check, times=times) > 10
    assert created > 0


def test_a_request_without_an_answer_is_looked_for_as_soon_as_its_process_was_cancelled(turns: Turns) -> None:
    turns.service.gate = asyncio.Event()
    order, task = turns.begin()
    turns.loop.run_until_idle()
    assert turns.service.times("place") == 1
    task.cancel()
    turns.pass_seconds(ANSWER_SECONDS)
    assert task.cancelled()
    assert turns.order(order).phase is Phase.UNKNOWN


@contextmanager
def failing_database(turns: Turns, failures: int) -> Iterator[None]:
    """Let the next `failures` transactions fail."""
    store = turns.system.orders.results._database
    transaction, left = store.transaction, failures

    def failing() -> Any:
        nonlocal left
        left -= 1
        if left >= 0:
            raise StoreDown
        return transaction()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "transaction", failing)
        yield


def test_a_database_that_stays_down_does_not_hold_the_end_of_the_process(turns: Turns) -> None:
    order, task = turns.begin()
    with failing_database(turns, 10**6):
        turns.loop.run_until_idle()
        task.cancel()
        turns.pass_seconds(SAVE_SECONDS)
        assert task.done()
    assert turns.order(order).phase is Phase.INTENDED
    assert not turns.system.orders.submission.is_submitting(order.reference)


def test_at_a_chosen_turn_time_stands_still_and_nothing_is_sent_late(turns: Turns) -> None:
    up = 0.0
    turns.system.orders.submission._seconds = lambda: up
    numbers = random.Random(11)
    sent_late = 0
    for _ in range(40 // kill_every() or 1):
        order, task = turns.begin()
        before, at = turns.service.times("place"), numbers.randint(0, 60)
        for _ in range(at):
            turns.turn()
        was_sent = turns.service.times("place") > before
        up += STANDS_STILL
        turns.clock.passes(seconds=numbers.choice([STANDS_STILL, STANDS_STILL - 60]))
        turns.loop.run_until_idle()
        assert task.done()
        sent_late += int(turns.service.times("place") > before and not was_sent)
        assert turns.order(order).phase is (Phase.OPEN if was_sent else Phase.REFUSED)
    assert sent_late == 0


def test_an_answer_is_saved_after_a_failure_of_the_database_although_the_process_was_cancelled(turns: Turns) -> None:
    order, task = turns.begin()
    with failing_database(turns, 1):
        turns.loop.run_until_idle()
        task.cancel()
        turns.pass_seconds(SAVE_SECONDS)
    assert turns.order(order).phase is Phase.OPEN

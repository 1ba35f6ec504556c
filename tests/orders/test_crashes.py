"""The bot is killed at every single moment of a whole payment, and started again: nothing is lost, nothing doubled."""

import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.checkout.draft import OrderDraft
from bot.infra.db.database import Database
from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notifications import OrderNotification
from bot.orders.order import Phase
from bot.orders.placement.service import ConfirmationOutdated
from tests.examples import kill_every
from tests.infra.keys import VAULT
from tests.orders.crashes import Crash, CrashCountdown, CrashingSender, CrashingService, CrashingStore
from tests.orders.order_system import EDITS, EMMA, RULES, OrderSystem, SentMessage
from tests.settlement.fake_settlement import FakeSettlement, MovedClock

pytestmark = pytest.mark.usefixtures("sqlite_in_the_loop")

PARTS = 3
"""Each test kills the bot at every third moment, so that several processes can share them."""

STATES = ("LN_INVOICE_PAID", "LN_SWAP_PENDING", "USDT_RECEIVED", "IDR_SETTLED", "COMPLETED")


@dataclass
class Payment:
    """Emma confirms, pays what she is shown, and watches; her last tap is replayed after a crash."""

    sql: Database
    service: FakeSettlement
    draft: OrderDraft
    confirmed: bool = False
    sent: list[SentMessage] = field(default_factory=list)
    presses_again: bool = True

    rules = RULES

    def system(self, countdown: CrashCountdown) -> OrderSystem:
        return OrderSystem(
            "",
            self.service,
            rules=self.rules,
            sql=self.sql,
            wrap=lambda store: CrashingStore(store, countdown),
            settlement=CrashingService(self.service, countdown),
            sender=CrashingSender(self.service.clock, countdown, self.sent),
        )

    async def run(self, system: OrderSystem, rounds: int) -> None:
        """Some time of the bot's life: its start, the replayed tap, and its workers."""
        await self.confirm(system)
        for _ in range(rounds):
            system.clock.passes(seconds=10)
            await system.lost_orders.run_once()
            await system.poller.tick()
            await system.tracker.check_deadlines()
            await self.deliver(system)
            await self.press_try_again(system)
            self.pay()
            if OrderNotification.SENT in [each.kind for each in self.sent]:
                break

    async def confirm(self, system: OrderSystem) -> None:
        if not self.confirmed:
            draft = await system.drafts.get(self.draft.id)
            assert draft is not None
            with suppress(ConfirmationOutdated):
                await system.confirm(draft)
            self.confirmed = True
        await self.await_requests(system)

    async def await_requests(self, system: OrderSystem) -> None:
        tasks = list(system.orders.submission._tasks.values())
        await system.orders.submission.wait()
        for task in tasks:
            if isinstance(task.exception(), Crash):
                raise Crash

    async def deliver(self, system: OrderSystem) -> None:
        while await system.delivery.start_due():
            tasks = system.delivery._list_tasks()
            await system.delivery.wait_until_sent()
            if any(isinstance(task.exception(), Crash) for task in tasks):
                raise Crash

    async def press_try_again(self, system: OrderSystem) -> None:
        if self.presses_again and [each.kind for each in self.sent].count(OrderNotification.UNRESOLVED):
            orders = await system.all_orders()
            await system.orders.try_again(orders[0].reference)
            await self.await_requests(system)

    def pay(self) -> None:
        """Pay what was shown, once; then the service moves it on by one state."""
        for service_id, record in self.service.records.items():
            if record.bolt11 in {each.payment_request for each in self.sent}:
                place = STATES.index(record.state) + 1 if record.state in STATES else 0
                if place < len(STATES):
                    self.service.becomes(service_id, STATES[place])


async def run(payment: Payment, countdown: CrashCountdown) -> None:
    """A payment whose first process dies when the fuse has burnt down, and whose second one doesn't."""
    first = payment.system(countdown)
    with suppress(Crash):
        await payment.run(first, rounds=14)
    await close(first)
    second = payment.system(CrashCountdown(None))
    await payment.run(second, rounds=25)
    await ends_well(payment, second, f"killed at moment {countdown.steps}")
    await close(second)


async def close(system: OrderSystem) -> None:
    for task in (*system.orders.submission._tasks.values(), *system.delivery._list_tasks()):
        task.cancel()
    with suppress(Crash):
        await system.close()


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("scripted", ["answer", "lost_before", "lost_after"])
async def test_a_payment_ends_well_wherever_the_bot_was_killed(
    migrated_file: Any, tmp_path: Any, scripted: str, part: int
) -> None:
    wished = tmp_path / "wished.db"
    shutil.copy(migrated_file, wished)
    preparing = OrderSystem(f"sqlite:///{wished}", FakeSettlement(MovedClock()))
    draft = await preparing.draft()
    await preparing.close()
    at, path = part, tmp_path / "kirim.db"
    sql = Database(f"sqlite:///{path}", VAULT)
    while True:
        shutil.copy(wished, path)
        service = FakeSettlement(MovedClock())
        service.places.append(scripted)
        countdown = CrashCountdown(at)
        await run(Payment(sql, service, draft), countdown)
        if countdown.remaining:
            break
        at += PARTS * kill_every()
    assert at > 20


async def ends_well(payment: Payment, system: OrderSystem, told_as: str) -> None:
    sent = payment.sent
    shown = {each.payment_request for each in sent if each.payment_request}
    assert len(shown) == 1, told_as
    assert sum(record.state == "COMPLETED" for record in payment.service.records.values()) == 1, told_as
    await only_one_order_is_open_and_it_is_done(payment, system, told_as)
    kinds = [each.kind for each in sent]
    for notice in (
        OrderNotification.INVOICE,
        OrderNotification.PAID,
        OrderNotification.REMOVE_INVOICE,
        OrderNotification.SENT,
    ):
        assert notice in kinds, f"{told_as}: {notice} was never told"
    assert (
        kinds.index(OrderNotification.INVOICE)
        < kinds.index(OrderNotification.PAID)
        < kinds.index(OrderNotification.SENT)
    ), told_as
    doubled = [each for each, times in Counter((e.subject, e.marked_kind) for e in sent).items() if times > 1]
    for subject, kind in doubled:
        again = [each.maybe_sent for each in sent if (each.subject, each.marked_kind) == (subject, kind)]
        assert again == [False, True], f"{told_as}: {kind} was told twice and didn't say so"
    # An edit is sent beside a message about money, and repeating it changes nothing.
    edits = [kind for _, kind in doubled if kind.partition(":")[0] in EDITS]
    assert len(doubled) - len(edits) <= 1, told_as
    assert len(edits) <= 1, told_as


async def only_one_order_is_open_and_it_is_done(payment: Payment, system: OrderSystem, told_as: str) -> None:
    orders = await system.all_orders(EMMA)
    async with system.store.reading() as tx:
        assert not await OutboxRepository(tx).find_heads(tuple(Queue)), told_as
    assert [order.phase for order in orders if order.phase is not Phase.ABANDONED] == [Phase.DONE], told_as
    assert len(orders) == payment.service.times("place") or len(orders) == payment.service.times("place") + 1, told_as

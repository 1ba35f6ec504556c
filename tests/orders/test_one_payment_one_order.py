"""Each payment belongs to one order: no two orders share a payment hash, an open deposit, or a request of a sender."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.core.money import Amount
from bot.infra.db.errors import StoreDown
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, HoldReason, Phase
from bot.orders.repository import OrderRepository
from bot.payments import bolt11
from bot.staff.notifications import AlarmNotification
from tests.orders.builders import insert_orders
from tests.orders.order_system import EMMA, NUMBER, OSCAR, REQUEST, SARI, OrderSystem, place_unresolved, rules
from tests.settlement.builders import BCA
from tests.settlement.fake_settlement import FakeSettlement

SAT = Amount("SAT", 25_000)


@pytest.mark.parametrize("spelling", ["lightning:{}", "LIGHTNING:{}", "  {}\n"])
async def test_an_invoice_is_kept_as_the_decoder_reads_it(
    system: OrderSystem, service: FakeSettlement, spelling: str
) -> None:
    invoice = service.invoice(14_706)
    service.answers.append({"bolt11": spelling.format(invoice.upper())})
    order = await system.place()
    await system.deliver()
    assert order.bolt11 == invoice
    assert order.payment_hash == bolt11.decode(invoice).payment_hash
    assert system.sender.payment_requests() == [invoice]


async def test_another_spelling_in_a_later_report_is_no_other_invoice(
    system: OrderSystem, service: FakeSettlement
) -> None:
    order = await system.place()
    record = service.records["svc-1"]
    service.records["svc-1"] = replace(record, bolt11=f"lightning:{record.bolt11}".upper())
    await system.poll()
    async with system.store.reading() as tx:
        notes = [event.note for event in await OrderRepository(tx).events(order.reference)]
    assert EventNote.INVOICE_REPLACED not in notes


async def test_an_invoice_that_another_order_has_is_not_shown_and_staff_are_alarmed(
    system: OrderSystem, service: FakeSettlement
) -> None:
    first = await system.place(SARI)
    service.answers.append({"bolt11": first.bolt11})
    second = await system.place()
    await system.deliver()
    assert (second.phase, second.bolt11, second.payment_hash) == (Phase.ABANDONED, None, None)
    assert system.sender.kinds(EMMA) == [OrderNotification.NOT_SHOWN]
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]


@pytest.mark.parametrize("is_expired", [False, True])
async def test_an_invoice_that_a_withheld_order_had_is_not_shown_with_another_one(
    system: OrderSystem,
    service: FakeSettlement,
    is_expired: bool,  # noqa: FBT001
) -> None:
    invoice = service.invoice(25_000)
    unpayable = {"expires_at": system.clock.now()} if is_expired else {"idr": 19_999}
    service.answers.append({**unpayable, "bolt11": invoice})
    first = await system.place(SARI, amount=SAT)
    assert (first.phase, first.bolt11) == (Phase.ABANDONED, None)
    for answer in ({}, unpayable):
        service.answers.append({**answer, "bolt11": invoice})
        assert (await system.place(amount=SAT)).phase is Phase.ABANDONED
    await system.deliver()
    assert system.sender.payment_requests() == []
    assert system.sender.kinds(EMMA)[0] == OrderNotification.NOT_SHOWN


async def test_the_invoice_of_an_order_that_was_ordered_again_is_not_shown_with_another_one(
    system: OrderSystem, service: FakeSettlement
) -> None:
    first, second = await place_twice_after_loss(system, service)
    for _ in range(5):
        await system.find_lost_orders(after=60)
    assert (await system.order(first.reference)).phase is Phase.ABANDONED
    service.answers.append({"bolt11": service.records["svc-1"].bolt11})
    assert (await system.place(SARI)).phase is Phase.ABANDONED
    assert system.sender.payment_requests() == [second.bolt11]


async def place_twice_after_loss(system: OrderSystem, service: FakeSettlement) -> tuple[Any, Any]:
    service.places.append("lost_after")
    service.listed = False
    first = await system.place()
    await system.find_lost_orders(after=61)
    system.clock.passes(seconds=50)
    second = await system.place()
    service.listed = True
    return await system.order(first.reference), second


async def test_an_order_that_its_sender_has_typed_again_is_never_shown_when_it_is_found(
    system: OrderSystem, service: FakeSettlement
) -> None:
    first, second = await place_twice_after_loss(system, service)
    assert (first.phase, second.phase) == (Phase.UNRESOLVED, Phase.OPEN)
    for _ in range(5):
        await system.find_lost_orders(after=60)
    first = await system.order(first.reference)
    assert (first.phase, first.service_id, first.bolt11) == (Phase.ABANDONED, "svc-1", None)
    assert system.sender.payment_requests() == [second.bolt11]
    assert system.sender.kinds()[-1] == OrderNotification.SUPERSEDED
    async with system.store.reading() as tx:
        assert (await OrderRepository(tx).events(first.reference))[-1].note == EventNote.SUPERSEDED


async def test_a_question_about_an_order_that_its_sender_has_created_again_is_over(
    system: OrderSystem, service: FakeSettlement
) -> None:
    draft = await system.draft()
    service.rate *= 2
    first = await system.confirm(draft)
    await system.orders.submission.wait()
    system.clock.passes(seconds=50)
    second = await system.place()
    assert ((await system.order(first.reference)).phase, second.phase) == (Phase.NEEDS_CONFIRMATION, Phase.OPEN)
    accepted = await system.orders.accept(first.reference)
    assert accepted is not None
    assert (accepted.phase, accepted.bolt11) == (Phase.ABANDONED, None)
    await system.deliver()
    assert system.sender.payment_requests() == [second.bolt11]
    assert system.sender.kinds()[-1] == OrderNotification.SUPERSEDED
    async with system.store.reading() as tx:
        assert (await OrderRepository(tx).events(first.reference))[-1].note == EventNote.SUPERSEDED


async def test_the_answer_that_arrives_after_the_same_was_ordered_again_shows_no_second_invoice(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.gate = asyncio.Event()
    first = await system.begin()
    system.clock.passes(seconds=3)
    second = await system.confirm(await system.draft())
    service.gate.set()
    await system.orders.submission.wait()
    await system.deliver()
    assert (await system.order(first.reference)).phase is Phase.ABANDONED
    assert system.sender.payment_requests() == [(await system.order(second.reference)).bolt11]


@pytest.mark.parametrize(
    "change", [{"number": "8620123457"}, {"amount": Amount("IDR", 250_001)}, {"channel": "cbbtc"}, {"chat_id": SARI}]
)
async def test_another_order_supersedes_nothing(
    system: OrderSystem, service: FakeSettlement, change: dict[str, Any]
) -> None:
    service.gate = asyncio.Event()
    first = await system.begin()
    system.clock.passes(seconds=3)
    await system.confirm(await system.draft(**change))
    service.gate.set()
    await system.orders.submission.wait()
    assert (await system.order(first.reference)).phase is Phase.OPEN


async def test_an_order_that_surely_was_not_created_supersedes_nothing(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.places.append("lost_after")
    service.listed = False
    first = await system.place()
    await system.find_lost_orders(after=61)
    system.clock.passes(seconds=50)
    service.places.append("never_reached")
    await system.place()
    service.listed = True
    await system.find_lost_orders(after=61)
    assert (await system.order(first.reference)).phase is Phase.OPEN


@pytest.mark.parametrize(
    ("ours", "theirs", "phase"),
    [
        (None, ("******3456", None), Phase.NEEDS_CONFIRMATION),
        ("BUDI SANTOSO", ("86****3456", "Budi  Santoso."), Phase.NEEDS_CONFIRMATION),
        ("BUDI SANTOSO", ("******3456", None), Phase.NEEDS_CONFIRMATION),
        ("BUDI SANTOSO", ("******3456", "SITI RAHAYU"), Phase.UNKNOWN),
        (None, ("*******456", None), Phase.UNKNOWN),
        (None, ("86*******6", None), Phase.UNKNOWN),
        (None, ("8620123456", "SITI RAHAYU"), Phase.OPEN),
    ],
)
async def test_an_order_found_by_a_masked_recipient_is_asked_about_and_shown_only_after_a_yes(
    system: OrderSystem, service: FakeSettlement, ours: str | None, theirs: tuple[str, str | None], phase: Phase
) -> None:
    service.places.append("lost_after")
    order = await system.place(holder=ours)
    service.records["svc-1"] = replace(service.records["svc-1"], recipient=theirs[0], holder=theirs[1])
    await system.find_lost_orders()
    await system.find_lost_orders()
    order = await system.order(order.reference)
    assert order.phase is phase
    if phase is not Phase.NEEDS_CONFIRMATION:
        return
    assert order.hold_reason is HoldReason.RECIPIENT_MASKED
    assert system.sender.kinds()[-1] == OrderNotification.RECIPIENT_MASKED
    assert system.sender.payment_requests() == []
    await system.orders.accept(order.reference)
    await system.deliver()
    assert system.sender.payment_requests() == [service.records["svc-1"].bolt11]


async def test_another_programs_order_for_somebody_else_at_the_same_bank_is_not_shown_unasked(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.masks = lambda number: f"******{number[-4:]}"
    service.places.append("lost_before")
    order = await system.place()
    other = replace(REQUEST, method=BCA, number=f"12345{NUMBER[-4:]}", amount=Amount("IDR", 250_000))
    service.make(other)
    await system.find_lost_orders()
    assert system.sender.payment_requests() == []
    assert (await system.order(order.reference)).phase is Phase.NEEDS_CONFIRMATION
    assert await system.orders.drop(order.reference)
    assert system.sender.payment_requests() == []


async def test_a_thousand_unresolved_orders_do_not_keep_a_fresh_loss_from_being_found(
    system: OrderSystem, service: FakeSettlement
) -> None:
    old = await place_unresolved(system, service)
    async with system.store.transaction() as tx:
        others = [f"OLD{n:04}" for n in range(1_001)]
        await insert_orders(
            tx, (replace(old, reference=each, draft_id=f"of {each}", page_token=None, version=0) for each in others)
        )
    service.places.append("lost_after")
    fresh = await system.place(SARI)
    await system.find_lost_orders()
    assert (await system.order(fresh.reference)).phase is Phase.OPEN


async def test_the_oldest_of_very_many_are_given_up_in_time(system: OrderSystem, service: FakeSettlement) -> None:
    old = await place_unresolved(system, service)
    async with system.store.transaction() as tx:
        others = [
            replace(old, reference=f"OLD{n:04}", draft_id=f"of {n}", page_token=None, version=0) for n in range(1_200)
        ]
        later = [old.created_at + timedelta(seconds=1 + n) for n in range(1_200)]
        await insert_orders(
            tx, (replace(each, created_at=at, last_polled_at=at) for each, at in zip(others, later, strict=True))
        )
    await system.find_lost_orders(after=86_400)
    assert (await system.order(old.reference)).phase is Phase.ABANDONED


class FailingTransactions:
    """A database of which the next `outages` transactions fail."""

    def __init__(self, store: Any) -> None:
        self._store, self.outages = store, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def transaction(self) -> Any:
        if self.outages:
            self.outages -= 1
            raise StoreDown
        return self._store.transaction()


@pytest.mark.parametrize("doing", ["answer", "lost_before", "never_reached"])
async def test_the_answer_to_a_post_is_saved_however_often_the_database_fails(
    file: str, service: FakeSettlement, doing: str
) -> None:
    system = OrderSystem(file, service, wrap=FailingTransactions)
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    system.orders.submission._pause = sleep  # type: ignore[method-assign]  # it waits for nothing
    service.places.append(doing)
    service.listed = False  # as if the service kept the order in memory only
    store: Any = system.store
    draft = await system.draft()
    placing = system.confirm(draft)
    order = await placing
    store.outages = 9
    await system.orders.submission.wait()
    await system.deliver()
    expected = {"answer": Phase.OPEN, "lost_before": Phase.UNKNOWN, "never_reached": Phase.REFUSED}[doing]
    assert (await system.order(order.reference)).phase is expected
    assert service.times("place") == 1
    assert len(pauses) == 9
    assert max(pauses) <= 5
    await system.close()


async def test_while_an_answer_waits_to_be_saved_nothing_else_looks_for_the_order(
    file: str, service: FakeSettlement
) -> None:
    system = OrderSystem(file, service, wrap=FailingTransactions)
    tried, released = asyncio.Event(), asyncio.Event()

    async def wait_until_released(_: float) -> None:
        tried.set()
        await released.wait()

    system.orders.submission._pause = wait_until_released  # type: ignore[method-assign,assignment]  # likewise
    store: Any = system.store
    service.gate = asyncio.Event()
    order = await system.begin()
    store.outages = 1
    service.gate.set()
    await tried.wait()
    system.clock.passes(seconds=600)
    await system.lost_orders.run_once()
    assert (await system.order(order.reference)).phase is Phase.INTENDED
    released.set()
    await system.orders.submission.wait()
    assert (await system.order(order.reference)).phase is Phase.OPEN
    await system.close()


async def test_limits_are_read_from_the_rules_of_today(file: str, service: FakeSettlement) -> None:
    system = OrderSystem(file, service, rules=rules(min_order_idr=30_000))
    assert system.orders.rules.amounts_for(BCA).allow(30_000)
    assert not system.orders.rules.amounts_for(BCA).allow(29_999)
    assert not system.orders.rules.amounts_for(BCA).allow(250_000_001)
    assert system.orders.rules.amounts_for(None).allow(10**15)
    await system.close()

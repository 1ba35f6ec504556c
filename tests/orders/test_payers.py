"""An order is its payer's, with or without a chat: what supersedes what, limits, deletion, retention, trouble."""

from typing import Any

import pytest
from sqlalchemy import literal, select

from bot.infra.db.database import Database
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.messages import order_subject
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Order, Payer, Phase, payer_in_chat
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.repository import OrderRepository
from bot.orders.user_data import delete_links, remove_recipients
from bot.recipients.repository import RecipientRepository
from bot.settlement.model import OrderStep
from bot.staff.model import AlarmKind
from bot.staff.notifications import AlarmNotification
from bot.staff.repository import AlarmRepository
from bot.support.repository import TicketRepository
from tests.orders.builders import an_order
from tests.orders.order_system import EMMA, OSCAR, SARI, OrderSystem, rules
from tests.orders.payers import LINK, OTHER_PAGE, PAGE, place_for
from tests.settlement.fake_settlement import FakeSettlement
from tests.times import DAY, NOW, SECOND

RINA = 3001
STAFFED = rules(support_ids=frozenset({RINA}))


async def messages_about(system: OrderSystem, order: Order) -> list[tuple[int, str]]:
    """Return the chat and the kind of every notification about an order, sent or not."""
    async with system.store.reading() as tx:
        rows = await OutboxRepository(tx).find_by_subject(order_subject(order))
    return [(row.chat_id, row.kind) for row in rows]


@pytest.fixture
async def staffed(file: str, service: FakeSettlement) -> Any:
    """Orders with an operator and a support agent."""
    system = OrderSystem(file, service, rules=STAFFED)
    yield system
    await system.close()


@pytest.mark.parametrize("state", ["FAILED", "LN_INVOICE_PAID"])
async def test_trouble_without_a_chat_is_the_operators_and_opens_no_ticket_that_nobody_could_read(
    staffed: OrderSystem, service: FakeSettlement, state: str
) -> None:
    order = await place_for(staffed, PAGE)
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await staffed.poll()
    service.becomes("svc-1", state)
    staffed.clock.passes(minutes=31)
    await staffed.poller.tick()
    await staffed.tracker.check_deadlines()
    await staffed.deliver()
    failed = state == "FAILED"
    assert await messages_about(staffed, order) == []
    assert staffed.sender.kinds(OSCAR) == [AlarmNotification.RAISED]
    assert staffed.sender.kinds(RINA) == []
    async with staffed.store.reading() as tx:
        (alarm,) = await AlarmRepository(tx).find_open()
        assert await TicketRepository(tx).of_order(order.reference) == ()
    assert (alarm.kind, alarm.subject) == (
        AlarmKind.ORDER_FAILED if failed else AlarmKind.ORDER_STUCK,
        order.reference,
    )


@pytest.mark.parametrize("payer", [PAGE, payer_in_chat(EMMA)], ids=["on a page", "in a chat"])
async def test_a_payer_who_placed_the_same_again_is_shown_only_the_newer_order(
    system: OrderSystem, service: FakeSettlement, payer: Payer
) -> None:
    service.places.append("lost_after")
    first = await place_for(system, payer)
    system.clock.passes(seconds=50)
    await place_for(system, payer)
    await system.find_lost_orders()
    async with system.store.reading() as tx:
        events = await OrderRepository(tx).events(first.reference)
    assert (await system.order(first.reference)).phase is Phase.ABANDONED
    assert events[-1].note == EventNote.SUPERSEDED


@pytest.mark.parametrize(
    ("payer", "origin"),
    [(OTHER_PAGE, LINK), (payer_in_chat(SARI), LINK), (PAGE, "the rent of June"), (PAGE, None)],
    ids=["another page", "a chat", "another link", "no link"],
)
async def test_what_is_another_payers_or_asked_for_with_another_link_supersedes_nothing(
    system: OrderSystem, service: FakeSettlement, payer: Payer, origin: str | None
) -> None:
    service.places.append("lost_after")
    first = await place_for(system, PAGE)
    system.clock.passes(seconds=50)
    await place_for(system, payer, origin=origin)
    await system.find_lost_orders()
    assert (await system.order(first.reference)).phase is Phase.OPEN


async def test_a_payer_is_found_by_no_other_and_nobody_has_no_orders(store: Database) -> None:
    payers = (PAGE, OTHER_PAGE, payer_in_chat(EMMA), Payer())
    async with store.transaction() as tx:
        for n, payer in enumerate(payers):
            await OrderRepository(tx).add(an_order(f"R{n}", payer=payer, created_at=NOW + n * SECOND))
    async with store.reading() as tx:
        orders = OrderRepository(tx)
        for n, payer in enumerate(payers[:3]):
            assert [each.reference for each in await orders.placed_after(payer, NOW - SECOND)] == [f"R{n}"]
            assert [each.payer for each in await orders.counted_by_limits(payer, NOW - SECOND)] == [payer]
        with pytest.raises(ValueError, match="nobody"):
            await orders.placed_after(Payer(), NOW)


async def test_old_orders_lose_their_payer_without_a_chat_with_the_recipient(store: Database) -> None:
    done: dict[str, Any] = {"phase": Phase.DONE, "state": "COMPLETED", "ended_at": NOW, "paid_at": NOW}
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("R1", payer=PAGE, page_token="a page", origin=LINK, **done))
        assert await remove_recipients(tx, NOW + SECOND, 9) == 1
        old = await OrderRepository(tx).get("R1")
        assert await OrderRepository(tx).placed_after(PAGE, NOW - DAY) == ()
    assert old is not None
    assert (old.payer, old.number, old.page_token, old.origin) == (Payer(), "", None, LINK)


async def test_nobody_elses_chat_gets_a_message_of_an_order_without_one(
    system: OrderSystem, service: FakeSettlement
) -> None:
    await place_for(system, PAGE)
    ordinary = await system.place()
    for service_id in ("svc-1", "svc-2"):
        service.becomes(service_id, "LN_INVOICE_PAID")
    await system.poll()
    assert {chat for chat, _ in await messages_about(system, ordinary)} == {EMMA}
    assert {(each.chat_id, each.subject) for each in system.sender.sent} == {(EMMA, order_subject(ordinary))}
    assert OrderNotification.PAID in system.sender.kinds()


async def test_a_deleted_link_takes_its_recipient_from_every_order_and_no_uncertain_one_is_shown(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.places.append("lost_after")
    lost = await place_for(system, payer_in_chat(EMMA))
    shown = await place_for(system, PAGE)
    other = await place_for(system, OTHER_PAGE, origin="another link")
    async with system.store.transaction() as tx:
        await delete_links(tx, select(literal(LINK)), system.clock.now())
    for order in (lost, shown):
        kept = await system.order(order.reference)
        assert (kept.number, kept.holder, kept.payer, kept.origin) == ("", None, order.payer, LINK)
    await system.find_lost_orders()
    assert (await system.order(lost.reference)).phase is Phase.ABANDONED
    assert await system.order(other.reference) == other
    service.becomes("svc-2", "COMPLETED")
    await system.poll()
    paid = await system.order(shown.reference)
    assert (paid.step, paid.phase, paid.number) == (OrderStep.SENT, Phase.DONE, "")


async def test_an_order_without_a_chat_is_followed_to_its_end_and_notifies_nobody(
    system: OrderSystem, service: FakeSettlement
) -> None:
    order = await place_for(system, PAGE)
    assert (order.phase, order.bolt11, order.payer) == (Phase.OPEN, service.records["svc-1"].bolt11, PAGE)
    for state, step in (("LN_INVOICE_PAID", OrderStep.PAID), ("COMPLETED", OrderStep.SENT)):
        service.becomes("svc-1", state)
        await system.poll()
        assert (await system.order(order.reference)).step is step
    assert await messages_about(system, order) == []
    assert system.sender.sent == []
    async with system.store.reading() as tx:
        assert await ReceiptRepository(tx).of_order(order.reference) is not None
        assert {user: await RecipientRepository(tx).find_by_user(user) for user in (0, EMMA)} == {0: (), EMMA: ()}

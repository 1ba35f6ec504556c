"""`/next`: who gets which ticket, what is set aside and comes back, and what stays of an agent who goes away."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from bot.core.errors import Rejection
from bot.infra.telegram.ui.reader import Reader
from bot.orders.order import Failure, Order, OrderStatus, Phase
from bot.orders.repository import OrderRepository
from bot.orders.tables import HAS_MONEY_AT_RISK, orders
from bot.settlement.model import COMPLETED, FAILED, OrderStep
from bot.support.cases import Case
from bot.support.model import CloseReason, Ticket, TicketClosed
from bot.support.repository import TicketRepository
from bot.support.screens.next_ticket import Work, show_work
from bot.support.service import TicketReminderService, UserTicketService, tell_ticket
from bot.support.staff_service import CLAIM_LASTS
from bot.support.tables import tickets
from bot.users.model import User
from tests.orders.builders import an_order
from tests.screens import JAKARTA, NOW
from tests.settlement.fake_settlement import MovedClock
from tests.support.builders import a_ticket
from tests.support.ticket_system import EMMA, GROUP, OSCAR, RINA, TicketSystem
from tests.texts import TRANSLATIONS, label

FORMER = 3999
DAY = timedelta(days=1)


@pytest.fixture
async def system(database: str) -> AsyncIterator[TicketSystem]:
    made = TicketSystem(database, MovedClock())
    yield made
    await made.store.close()


async def save_order(system: TicketSystem, order: Order) -> Order:
    async with system.store.transaction() as tx:
        assert await OrderRepository(tx).add(order)
    return order


async def move_order(system: TicketSystem, order: Order, **changes: object) -> None:
    async with system.store.transaction() as tx:
        current = await OrderRepository(tx).get(order.reference)
        assert current is not None
        await OrderRepository(tx).save(replace(current, **changes))  # type: ignore[arg-type]


async def open_tickets(system: TicketSystem) -> dict[str, Ticket]:
    """Save a ticket a minute: without an order, sent, paid, waiting, and failed after the payment."""
    paid = {"phase": Phase.OPEN, "paid_at": system.clock.now()}
    saved = (
        an_order("R2345AA", **{**paid, "phase": Phase.DONE, "step": OrderStep.SENT, "state": COMPLETED}),
        an_order("R2345AB", **paid, step=OrderStep.PAID, state="LN_INVOICE_PAID"),
        an_order("R2345AC", phase=Phase.OPEN, state="LN_INVOICE_CREATED"),
        an_order("R2345AD", **{**paid, "phase": Phase.DONE}, step=OrderStep.PAID, state=FAILED),
    )
    found = {}
    for name, order in zip(("none", "sent", "paid", "waiting", "failed"), (None, *saved), strict=True):
        if order is not None:
            await save_order(system, order)
        found[name] = await system.open_ticket(order=order.reference if order else "")
        system.clock.passes(minutes=1)
    return found


def pauses_of(system: TicketSystem, *operators: int) -> TicketReminderService:
    return TicketReminderService(
        system.store,
        system.clock,
        system.staff_chat,
        operator_ids=frozenset(operators),
        remind_after=timedelta(minutes=15),
    )


async def handle_all(system: TicketSystem, by: int = RINA) -> list[str]:
    """Close one ticket after the other, and return their references."""
    found = list[str]()
    while (ticket := await system.tickets.claim_next(by)) is not None:
        found.append(ticket.reference)
        await system.tickets.reply(ticket.reference, by, system.new_message(), CloseReason.SOLVED)
    return found


async def test_money_at_risk_comes_first_then_who_has_waited_longest(system: TicketSystem) -> None:
    of = await open_tickets(system)
    expected = [of[name].reference for name in ("paid", "failed", "none", "sent", "waiting")]
    assert await handle_all(system) == expected


@pytest.mark.parametrize("channel", ["lightning", "cbbtc"])
@pytest.mark.parametrize("is_paid", [False, True])
@pytest.mark.parametrize("state", ["LN_INVOICE_CREATED", "PAYING", COMPLETED, FAILED])
async def test_the_query_and_the_order_agree_on_what_is_at_risk(
    system: TicketSystem, channel: str, state: str, *, is_paid: bool
) -> None:
    paid_at = system.clock.now() if is_paid else None
    order = an_order("R2345AB", phase=Phase.OPEN, channel=channel, paid_at=paid_at, state=state)
    await save_order(system, order)
    async with system.store.reading() as tx:
        found = (await tx.connection.execute(select(orders.c.reference).where(HAS_MONEY_AT_RISK))).all()
    assert bool(found) == order.has_money_at_risk
    assert order.has_money_at_risk == ((is_paid and state != COMPLETED) or order.failure is Failure.UNKNOWN)


async def test_two_agents_never_get_the_same_ticket(system: TicketSystem) -> None:
    await open_tickets(system)
    got = await asyncio.gather(*(system.tickets.claim_next(by) for by in (RINA, OSCAR) * 4))
    rinas, oscars = ({each.reference for each in got[at::2] if each} for at in (0, 1))
    assert len(rinas) == len(oscars) == 1, "each gets their own again until they have done something with it"
    assert rinas.isdisjoint(oscars)


async def test_a_ticket_that_cannot_be_read_shuts_none_of_the_others_out(system: TicketSystem) -> None:
    of = await open_tickets(system)
    is_first = tickets.c.reference == of["paid"].reference
    async with system.store.transaction() as tx:
        await tx.connection.execute(update(tickets).where(is_first).values(cause="unheard of"))
    claimed = await system.tickets.claim_next(RINA)
    assert claimed is not None
    assert claimed.reference == of["failed"].reference


async def test_a_claim_stays_its_agents_as_long_as_they_ask_and_is_never_lost_with_them(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    for _ in range(3):
        claimed = await system.tickets.claim_next(RINA)
        assert claimed is not None
        assert claimed.reference == ticket.reference
        system.clock.passes(seconds=CLAIM_LASTS.total_seconds() - 1)
        assert await system.tickets.claim_next(OSCAR) is None
    system.clock.passes(seconds=1)
    taken = await system.tickets.claim_next(OSCAR)
    assert taken is not None
    assert taken.claimed_by == OSCAR
    assert await system.tickets.claim_next(RINA) is None
    with pytest.raises(Rejection, match=r"support\.ticket\.held_by_another"):
        await system.reply(ticket, RINA)


async def test_a_ticket_whose_agent_was_removed_is_the_next_ones_at_once(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    await system.tickets.claim(ticket.reference, FORMER)
    taken = await system.tickets.claim_next(RINA)
    assert taken is not None
    assert taken.claimed_by == RINA


async def test_an_answered_ticket_comes_only_when_its_customer_writes_again(system: TicketSystem) -> None:
    ticket = await system.open_ticket(order="")
    await system.reply(ticket)
    assert await system.tickets.claim_next(RINA) is None
    await write_again(system, ticket)
    system.clock.passes(minutes=1)
    assert await system.tickets.claim_next(OSCAR) is None, "it is Rina's"
    assert await system.tickets.claim_next(RINA) is not None


async def write_again(system: TicketSystem, ticket: Ticket) -> None:
    users = UserTicketService(system.store, system.clock, system.staff_chat, reopen_within=DAY)
    emma = User(id=EMMA, created_at=system.clock.now())
    await users.write(emma, replace(system.new_message("Hello?"), chat_id=EMMA), ticket.reference)


@pytest.mark.parametrize("end", ["the order moves", "the time comes", "the customer writes", "an operator says how"])
async def test_what_is_set_aside_comes_back_by_itself_and_not_before(system: TicketSystem, end: str) -> None:
    order = await save_order(system, an_order("R2345AB", phase=Phase.OPEN, paid_at=system.clock.now()))
    ticket, pauses = await system.open_ticket(order="R2345AB"), pauses_of(system)
    until = system.clock.now() + DAY
    await system.tickets.pause(ticket.reference, RINA, until, order.status(system.clock.now()))
    system.clock.passes(hours=23)
    assert [await pauses.end_pauses(), await pauses.remind()] == [0, 0], "nobody is reminded of it"
    assert await system.tickets.claim_next(RINA) is None
    if end == "the order moves":
        await move_order(system, order, step=OrderStep.SENDING, state="PAYING")
    elif end == "the time comes":
        system.clock.passes(hours=1)
    elif end == "the customer writes":
        await write_again(system, ticket)
    else:
        async with system.store.transaction() as tx:
            await tell_ticket(system.staff_chat, tx, "R2345AB", "paid_out", system.clock.now())
    is_line = end in {"the order moves", "the time comes"}
    assert [await pauses.end_pauses() for _ in range(2)] == [is_line, 0]
    await system.deliver()
    back = [kind for kind in system.kinds_sent_to(GROUP, "ticket_line") if "moved" in kind or "pause_over" in kind]
    assert len(back) == is_line, "its agent is told once"
    assert await system.tickets.claim_next(OSCAR) is None, "it is still Rina's"
    again = await system.tickets.claim_next(RINA)
    assert again is not None
    assert (again.reference, again.paused_until) == (ticket.reference, None)


async def test_a_ticket_that_came_back_is_the_operators_when_nobody_replies(system: TicketSystem) -> None:
    ticket = await system.open_ticket(order="")
    pauses = pauses_of(system, OSCAR)
    await system.tickets.pause(ticket.reference, RINA, system.clock.now() + DAY, "")
    system.clock.passes(days=1)
    await pauses.tick()
    system.clock.passes(minutes=15)
    await pauses.tick()
    await system.deliver()
    assert [len(system.kinds_sent_to(chat, "ticket_waits")) for chat in (GROUP, OSCAR)] == [0, 1]


async def test_a_reply_that_closes_is_saved_with_the_end_and_only_once(system: TicketSystem) -> None:
    ticket, message = await system.open_ticket(), system.new_message()
    assert await system.tickets.reply(ticket.reference, RINA, message, CloseReason.SOLVED) is not None
    assert await system.tickets.reply(ticket.reference, RINA, message, CloseReason.SOLVED) is None
    assert not (await system.reload(ticket)).is_open
    await system.deliver()
    assert [kind.partition(":")[0] for kind in system.kinds_sent_to(EMMA)] == ["ticket_reply", "ticket_closed"]
    with pytest.raises(TicketClosed):
        await system.tickets.pause(ticket.reference, RINA, system.clock.now() + DAY, str(OrderStatus.SENT))


async def test_a_closed_ticket_is_no_longer_set_aside(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    await system.tickets.pause(ticket.reference, RINA, system.clock.now() + DAY, "")
    await system.tickets.close(ticket.reference, RINA, CloseReason.SOLVED)
    async with system.store.reading() as tx:
        assert await TicketRepository(tx).count_paused() == 0
    reopened = await system.tickets.reopen(ticket.reference, OSCAR)
    assert reopened.paused_until is None


KINDS = ("failed", "stuck", "paid", "expired", "sent", "none")
AT_RISK = frozenset({"failed", "stuck", "paid"})


async def open_thirty(system: TicketSystem) -> dict[str, str]:
    """Save five tickets of six kinds, a minute apart and each of another customer. Return the kind of each."""
    now, kind_of = system.clock.now(), dict[str, str]()
    paid = {"phase": Phase.OPEN, "paid_at": now, "step": OrderStep.PAID, "state": "LN_INVOICE_PAID"}
    changes = {
        "failed": {**paid, "phase": Phase.DONE, "state": FAILED},
        "stuck": {**paid, "overdue_notified_at": now},
        "paid": paid,
        "expired": {"phase": Phase.OPEN, "state": "LN_INVOICE_CREATED", "expiry_notified": True},
        "sent": {**paid, "phase": Phase.DONE, "step": OrderStep.SENT, "state": COMPLETED},
    }
    for number in range(30):
        kind, reference = KINDS[number % 6], f"R23{number:02}AB".replace("0", "X").replace("1", "Y")
        if kind != "none":
            await save_order(system, an_order(reference, **changes[kind]))
        ticket = await system.open_ticket(EMMA + number, reference if kind != "none" else "")
        kind_of[ticket.reference] = kind
        system.clock.passes(minutes=1)
    return kind_of


async def test_two_agents_work_off_thirty_tickets_of_six_kinds_each_once_and_money_first(system: TicketSystem) -> None:
    kind_of = await open_thirty(system)
    done, agents = dict[str, int](), (RINA, OSCAR)
    for turn in range(30):
        by = agents[turn % 2]
        ticket = await system.tickets.claim_next(by)
        assert ticket is not None
        assert ticket.reference not in done
        done[ticket.reference] = by
        if kind_of[ticket.reference] == "stuck":
            until, status = system.clock.now() + DAY, str(OrderStatus.PAID)
            await system.tickets.pause(ticket.reference, by, until, status)
        else:
            await system.tickets.reply(ticket.reference, by, system.new_message(by=by), CloseReason.SOLVED)
    order = [kind_of[reference] for reference in done]
    assert {*order[:15]} == AT_RISK
    assert AT_RISK.isdisjoint(order[15:])
    assert order[:6] == ["failed", "stuck", "paid"] * 2, "the oldest first"
    assert [await system.tickets.claim_next(by) for by in agents] == [None, None]
    stuck = [await system.reload(a_ticket(reference)) for reference, kind in kind_of.items() if kind == "stuck"]
    for ticket in stuck:
        async with system.store.reading() as tx:
            moved = await OrderRepository(tx).get(ticket.order_reference)
        assert moved is not None
        await move_order(system, moved, phase=Phase.DONE, step=OrderStep.SENT, state=COMPLETED)
    assert await pauses_of(system).end_pauses() == 5
    back = {reference: by for by in agents for reference in await handle_all(system, by)}
    assert back == {ticket.reference: done[ticket.reference] for ticket in stuck}, "each to its agent"
    await system.deliver()
    for number in range(30):
        sent = [kind.partition(":")[0] for kind in system.kinds_sent_to(EMMA + number)]
        assert sent == ["ticket_reply", "ticket_closed"]


@pytest.mark.parametrize(("name", "key"), [("done", "close"), ("refunded", "close"), ("failed-checking", "send")])
def test_closing_is_suggested_only_with_a_reply_that_leaves_nothing_to_answer(name: str, key: str) -> None:
    work = Work(
        ticket=a_ticket().claim(RINA, NOW),
        case=Case(user_id=EMMA, user=None),
        status=None,
        report=None,
        last=None,
        sent=None,
        replies=(),
        name=name,
        filled="Hello",
        locale="en",
        undecided=0,
        link=None,
    )
    screen = show_work(Reader(TRANSLATIONS.get("en"), JAKARTA, NOW), work)
    assert [each.label for row in screen.keyboard for each in row if each.style] == [label(f"support.next.{key}")]

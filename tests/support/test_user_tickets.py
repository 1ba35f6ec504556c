"""A user's message or a failed order opens one ticket about a subject. Further messages are added to it."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.core.errors import Rejection
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notifications import OrderNotification
from bot.orders.order import OrderProblem
from bot.staff.model import AlarmKind
from bot.staff.staff_chat import StaffChat
from bot.support.model import Cause, CloseReason, EntryKind, IncomingMessage, MediaKind, Rating, Ticket, TicketStatus
from bot.support.notifications import StaffNotification, TicketNotification
from bot.support.repository import TicketEntryRepository, TicketRepository
from bot.support.service import OrderTicketListener, UserTicketService
from bot.support.staff_service import StaffTicketService
from bot.users.model import User, UserEvent
from bot.users.repository import UserEventRepository, UserRepository
from tests.orders.order_system import EMMA, OSCAR, SARI, OrderSystem, rules
from tests.settlement.builders import a_report
from tests.settlement.fake_settlement import FakeSettlement

RINA = 3001
WITHIN = timedelta(days=7)
STAFFED = rules(support_ids=frozenset({RINA}))


class UserTicketSystem(OrderSystem):
    """An order system with the user's tickets."""

    def __init__(self, file: str, service: FakeSettlement, **others: Any) -> None:
        super().__init__(file, service, rules=STAFFED, **others)
        self.tickets = UserTicketService(self.store, self.clock, self.staff_chat, reopen_within=WITHIN)

    def user(self, user_id: int = EMMA) -> User:
        return User(id=user_id, created_at=self.clock.now())

    async def close_ticket(self, ticket: Ticket) -> Ticket:
        async with self.store.transaction() as tx:
            saved = await TicketRepository(tx).save(ticket.close(RINA, CloseReason.SOLVED, self.clock.now()))
        assert saved is not None
        return saved

    async def ticket(self, reference: str) -> Ticket:
        async with self.store.reading() as tx:
            found = await TicketRepository(tx).get(reference)
        assert found is not None
        return found

    async def texts(self, ticket: Ticket) -> list[str | None]:
        async with self.store.reading() as tx:
            return [entry.text for entry in await TicketEntryRepository(tx).of_ticket(ticket.reference)]

    async def user_events(self, reference: str = "") -> list[str]:
        async with self.store.reading() as tx:
            return [
                act.event
                for act in await UserEventRepository(tx).find_by_order(
                    EMMA, reference, self.clock.now() - timedelta(days=99)
                )
            ]


def words(text: str, message_id: int, chat_id: int = EMMA) -> IncomingMessage:
    return IncomingMessage(chat_id=chat_id, message_id=message_id, text=text)


@pytest.fixture
def system(file: str, service: FakeSettlement) -> UserTicketSystem:
    return UserTicketSystem(file, service)


@pytest.fixture(autouse=True)
async def _leaves(system: UserTicketSystem) -> Any:
    yield
    await system.close()


async def test_the_first_word_opens_a_ticket_and_the_next_are_added_to_it(system: UserTicketSystem) -> None:
    first = await system.tickets.ask(system.user(), words("My money is gone", 10), "R1")
    second = await system.tickets.ask(system.user(), words("Hello?", 11), "R1")
    assert (first.event, second.event) == (UserEvent.OPENED_TICKET, UserEvent.ADDED_MESSAGE)
    assert second.ticket.reference == first.ticket.reference
    assert (first.ticket.order_reference, first.ticket.cause) == ("R1", Cause.ASKED)
    assert await system.texts(first.ticket) == ["My money is gone", "Hello?"]
    await system.deliver()
    assert [each.marked_kind for each in system.sender.sent] == [
        StaffNotification.NEW_CARD,
        f"{StaffNotification.ENTRY}:1",
        f"{StaffNotification.ENTRY}:2",
    ]
    assert {each.chat_id for each in system.sender.sent} == {RINA}
    assert await system.user_events("R1") == [UserEvent.OPENED_TICKET, UserEvent.ADDED_MESSAGE]


async def test_each_matter_has_a_ticket_of_its_own(system: UserTicketSystem) -> None:
    found = [
        (await system.tickets.ask(system.user(user), words("?", number, user), reference)).ticket.reference
        for number, (user, reference) in enumerate([(EMMA, "R1"), (EMMA, "R2"), (EMMA, ""), (SARI, "")], 1)
    ]
    assert len(set(found)) == 4


async def test_a_message_that_is_met_again_after_a_crash_is_taken_in_once(system: UserTicketSystem) -> None:
    user = replace(system.user(), open_question="ticket:R1")
    first = await system.tickets.ask(user, words("Help", 10), "R1")
    again = await system.tickets.ask(replace(user, open_question=None), words("Help", 10), "R1")
    assert (again.ticket, again.event) == (first.ticket, None)
    assert await system.texts(first.ticket) == ["Help"]
    assert await system.user_events("R1") == [UserEvent.OPENED_TICKET]
    async with system.store.reading() as tx:
        known = await UserRepository(tx).get(EMMA)
    assert known is not None
    assert known.open_question is None, "the question is answered all the same"


async def test_pictures_and_files_come_along(system: UserTicketSystem) -> None:
    photo = IncomingMessage(chat_id=EMMA, message_id=10, text="see", media=MediaKind.PHOTO, file_id="f1")
    taken = await system.tickets.ask(system.user(), photo)
    await system.tickets.write(
        system.user(), replace(photo, message_id=11, media=MediaKind.DOCUMENT), taken.ticket.reference
    )
    async with system.store.reading() as tx:
        entries = await TicketEntryRepository(tx).of_ticket(taken.ticket.reference)
    assert [(each.kind, each.media, each.file_id, each.author_id) for each in entries] == [
        (EntryKind.ASKED, MediaKind.PHOTO, "f1", EMMA),
        (EntryKind.ASKED, MediaKind.DOCUMENT, "f1", EMMA),
    ]


async def test_a_word_after_an_answer_waits_for_the_next_one(system: UserTicketSystem) -> None:
    ticket = (await system.tickets.ask(system.user(), words("Help", 10))).ticket
    async with system.store.transaction() as tx:
        await TicketRepository(tx).save(ticket.record_reply(RINA, system.clock.now()))
    system.clock.passes(minutes=5)
    taken = await system.tickets.write(system.user(), words("Thanks, but", 11), ticket.reference)
    assert taken.ticket.waiting_since == system.clock.now()
    await system.deliver()
    assert system.sender.sent[-2].marked_kind == f"{StaffNotification.CARD}:{taken.ticket.version}"
    async with system.store.reading() as tx:
        notification = await OutboxRepository(tx).find_by_subject(f"ticket:{ticket.reference}")
    (entry,) = [each.payload for each in notification if (each.kind, each.mark) == (StaffNotification.ENTRY, "2")]
    assert (entry["ticket"], entry["entry"], entry["who"]) == (ticket.reference, 2, RINA)


@pytest.mark.parametrize("reference", ["T-NONE2", "another's"])
async def test_nobody_writes_into_anothers_ticket(system: UserTicketSystem, reference: str) -> None:
    others = (await system.tickets.ask(system.user(SARI), words("Mine", 10, SARI))).ticket
    with pytest.raises(Rejection, match=r"support\.ticket\.gone"):
        await system.tickets.write(
            system.user(), words("?", 11), others.reference if reference == "another's" else reference
        )
    assert await system.texts(others) == ["Mine"]


async def test_a_word_reopens_what_was_closed_lately_and_not_what_was_closed_long_ago(system: UserTicketSystem) -> None:
    ticket = await system.close_ticket((await system.tickets.ask(system.user(), words("Help", 10))).ticket)
    system.clock.passes(days=6.9)
    taken = await system.tickets.write(system.user(), words("Still", 11), ticket.reference)
    assert (taken.event, taken.ticket.status, taken.ticket.claimed_by) == (UserEvent.REOPENED, TicketStatus.OPEN, RINA)
    await system.close_ticket(await system.ticket(ticket.reference))
    system.clock.passes(days=7)
    with pytest.raises(Rejection, match=r"support\.ticket\.closed_too_long_ago"):
        await system.tickets.write(system.user(), words("Still!", 12), ticket.reference)
    assert await system.texts(ticket) == ["Help", "Still"]


async def test_a_closed_ticket_stays_closed_while_another_is_open_about_the_same(system: UserTicketSystem) -> None:
    ticket = await system.close_ticket((await system.tickets.ask(system.user(), words("Help", 10), "R1")).ticket)
    other = (await system.tickets.ask(system.user(), words("Again", 11), "R1")).ticket
    taken = await system.tickets.write(system.user(), words("Here", 12), ticket.reference)
    assert (taken.ticket.reference, taken.event) == (other.reference, UserEvent.ADDED_MESSAGE)
    assert await system.texts(other) == ["Again", "Here"]
    with pytest.raises(Rejection, match=r"support\.ticket\.another_open"):
        await system.tickets.reopen(ticket)


async def test_a_failure_after_the_payment_opens_one_and_tells_both_sides(system: UserTicketSystem) -> None:
    order = await _paid(system)
    await system.apply_report(order, a_report(service_id="svc-1", state="FAILED"))
    await system.deliver()
    told = system.sender.kinds(EMMA)
    assert told.count(OrderNotification.FAILED) == 1
    assert not any(kind in set(TicketNotification) for kind in told), "the failure and its ticket are one message"
    assert system.sender.kinds(RINA) == [StaffNotification.NEW_CARD]
    async with system.store.reading() as tx:
        (ticket,) = await TicketRepository(tx).of_order(order)
    assert (ticket.cause, ticket.user_id, ticket.waiting_since) == (Cause.FAILED, EMMA, system.clock.now())


async def test_what_is_stuck_and_fails_then_keeps_its_one_ticket(system: UserTicketSystem) -> None:
    order = await _paid(system)
    system.clock.passes(minutes=31)
    await system.poller.tick()
    await system.tracker.check_deadlines()
    await system.apply_report(order, a_report(service_id="svc-1", state="FAILED"))
    await system.deliver()
    async with system.store.reading() as tx:
        (ticket,) = await TicketRepository(tx).of_order(order)
    assert ticket.cause is Cause.FAILED
    assert system.sender.kinds(RINA) == [StaffNotification.NEW_CARD, StaffNotification.LINE, StaffNotification.CARD]
    told = system.sender.kinds(EMMA)
    assert [told.count(kind) for kind in (OrderNotification.OVERDUE, OrderNotification.FAILED)] == [1, 1]
    assert not any(kind in set(TicketNotification) for kind in told)


async def _stuck(system: UserTicketSystem) -> tuple[str, Ticket]:
    """Return a paid order that takes too long, and the ticket that the bot opened for it."""
    order = await _paid(system)
    system.clock.passes(minutes=31)
    await system.poller.tick()
    await system.tracker.check_deadlines()
    async with system.store.reading() as tx:
        (ticket,) = await TicketRepository(tx).of_order(order)
    return order, ticket


async def _complete(system: UserTicketSystem, order: str) -> None:
    await system.apply_report(order, a_report(service_id="svc-1", state="COMPLETED"))
    await system.deliver()


async def test_an_untouched_ticket_closes_itself_when_the_rupiah_were_sent(system: UserTicketSystem) -> None:
    order, ticket = await _stuck(system)
    await _complete(system, order)
    closed = await system.ticket(ticket.reference)
    assert (closed.is_open, closed.waiting_since, closed.closed_by, closed.close_key) == (False, None, None, "itself")
    told = [kind for kind in system.sender.kinds(EMMA) if kind != OrderNotification.EDIT_STATUS]
    assert told[-2:] == [OrderNotification.SENT, TicketNotification.CLOSED]
    assert system.sender.kinds(RINA) == [StaffNotification.NEW_CARD, StaffNotification.CARD]


async def test_a_ticket_that_closed_itself_opens_again_with_a_later_message(system: UserTicketSystem) -> None:
    order, ticket = await _stuck(system)
    await _complete(system, order)
    taken = await system.tickets.write(system.user(), words("It isn't there", 10), ticket.reference)
    assert (taken.event, taken.ticket.is_open, taken.ticket.waiting_since) == (
        UserEvent.REOPENED,
        True,
        system.clock.now(),
    )


@pytest.mark.parametrize("touch", ["wrote", "noted", "claimed", "took the alarm", "failed"])
async def test_a_ticket_that_somebody_has_touched_stays_open(system: UserTicketSystem, touch: str) -> None:
    order, ticket = await _stuck(system)
    staff = StaffTicketService(system.store, system.clock, system.staff_chat)
    match touch:
        case "wrote":
            await system.tickets.write(system.user(), words("Where is it?", 10), ticket.reference)
        case "noted":
            await staff.add_note(ticket.reference, RINA, words("I asked the service", 11, RINA))
        case "claimed":
            await staff.claim(ticket.reference, RINA)
        case "took the alarm":
            assert await system.monitor.resolve(AlarmKind.ORDER_STUCK, order, OSCAR)
        case "failed":
            await system.apply_report(order, a_report(service_id="svc-1", state="FAILED"))
    await _complete(system, order)
    assert (await system.ticket(ticket.reference)).is_open
    assert TicketNotification.CLOSED not in system.sender.kinds(EMMA)


async def test_a_message_of_the_same_moment_keeps_a_ticket_from_closing_itself(system: UserTicketSystem) -> None:
    order, before = await _stuck(system)
    await asyncio.gather(
        system.tickets.write(system.user(), words("Where is it?", 10), before.reference),
        system.apply_report(order, a_report(service_id="svc-1", state="COMPLETED")),
    )
    assert (await system.ticket(before.reference)).is_open
    assert await system.texts(before) == ["Where is it?"]


async def test_who_has_asked_before_the_failure_keeps_their_ticket_and_it_waits_again(system: UserTicketSystem) -> None:
    order = await _paid(system)
    ticket = (await system.tickets.ask(system.user(), words("Where is it?", 10), order)).ticket
    async with system.store.transaction() as tx:
        await TicketRepository(tx).save(ticket.record_reply(RINA, system.clock.now()))
    await system.apply_report(order, a_report(service_id="svc-1", state="FAILED"))
    after = await system.ticket(ticket.reference)
    assert (after.cause, after.waiting_since) == (Cause.ASKED, system.clock.now())


async def test_where_nobody_is_there_to_help_no_ticket_opens(system: UserTicketSystem) -> None:
    order = await system.order(await _paid(system))
    async with system.store.transaction() as tx:
        await OrderTicketListener(StaffChat(0, frozenset())).order_needs_staff(
            tx, order, OrderProblem.FAILED, system.clock.now()
        )
        assert await TicketRepository(tx).of_order(order.reference) == ()


async def test_the_last_word_about_the_help_counts_and_only_of_what_is_closed(system: UserTicketSystem) -> None:
    ticket = (await system.tickets.ask(system.user(), words("Help", 10))).ticket
    with pytest.raises(Rejection, match=r"support\.ticket\.still_open"):
        await system.tickets.rate(ticket, Rating.GOOD)
    ticket = await system.tickets.rate(await system.close_ticket(ticket), Rating.GOOD)
    assert await system.tickets.rate(ticket, Rating.GOOD) == ticket, "a second tap changes nothing"
    ticket = await system.tickets.rate(ticket, Rating.BAD)
    assert (await system.ticket(ticket.reference)).rating is Rating.BAD
    assert await system.user_events() == [UserEvent.OPENED_TICKET, UserEvent.RATED_GOOD, UserEvent.RATED_BAD]


async def test_reopening_keeps_who_held_it_and_forgets_the_rating(system: UserTicketSystem) -> None:
    ticket = await system.close_ticket((await system.tickets.ask(system.user(), words("Help", 10))).ticket)
    ticket = await system.tickets.reopen(await system.tickets.rate(ticket, Rating.BAD))
    assert (ticket.is_open, ticket.rating, ticket.claimed_by, ticket.reopen_count) == (True, None, RINA, 1)
    with pytest.raises(Rejection, match=r"support\.ticket\.open_already"):
        await system.tickets.reopen(ticket)


async def _paid(system: UserTicketSystem) -> str:
    order = await system.place()
    system.service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    system.sender.sent.clear()
    return order.reference

"""Values of tickets and of what support sees, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import product
from typing import Final

from bot.core.errors import Rejection
from bot.orders.destinations.model import PayoutTimes
from bot.orders.order import Order
from bot.settlement.model import ServiceRecord
from bot.support.cases import Case
from bot.support.lookup_model import Found, OrderCounts, OrderFilter, Page, ParsedQuery, TicketPage, UserOverview
from bot.support.model import (
    Cause,
    CloseReason,
    Rating,
    Reveal,
    SavedReply,
    Ticket,
    TicketClosed,
    TicketEntry,
    TicketFilter,
    TicketHeldByAnother,
    TicketStatistics,
)
from bot.support.notifications import AboutTicket, Remark
from bot.support.saved_replies import MAX_COUNT
from bot.support.screens import reveals as reveal_screens
from bot.support.screens import saved_replies
from bot.support.screens.help import TOPICS, HelpFacts, show_page
from bot.support.screens.lookups import TicketAndOrder
from bot.support.screens.next_ticket import Work
from bot.support.screens.staff import ask_to_send, confirm_closed, explain_not_passed_on, show_line, show_start
from bot.support.screens.user import show_contact
from bot.support.service_orders import MARK, ServiceOrder
from bot.users.model import User
from tests.checkout.builders import a_draft_at_review
from tests.orders.builders import an_open_order, every_event_of
from tests.orders.samples import some_orders
from tests.screens import NOW, Outside, ScreenCase
from tests.settlement.builders import a_report
from tests.staff.samples import CONTACTS, SOME_CONTACTS
from tests.support.builders import a_closed_ticket, an_entry, an_unanswered_ticket

SERVICE_ID: Final = "cm7k2jt8x0000qz01abcd1234"
PAYOUT_TIMES: Final = PayoutTimes(orders=20, median=timedelta(minutes=3), slow=timedelta(minutes=11))
REVEAL: Final = Reveal(
    id="0" * 16, reference="ABC2345", staff_id=3001, message_id=7, at=NOW, until=NOW + timedelta(minutes=1)
)


def some_tickets(_: Outside) -> Iterator[Ticket]:
    """Yield tickets of each cause: waiting, answered, claimed, and closed for each reason with each rating."""
    for cause in Cause:
        ticket = an_unanswered_ticket(NOW, cause=cause)
        yield ticket
        yield replace(ticket, waiting_since=None)
    yield replace(an_unanswered_ticket(NOW), order_reference="")
    yield an_unanswered_ticket(NOW).claim(3001, NOW)
    yield an_unanswered_ticket(NOW).pause(3001, NOW + timedelta(hours=1), "", NOW)
    for reason, rating in product(CloseReason, (None, *Rating)):
        yield a_closed_ticket(NOW, reason, rating=rating)
    yield a_closed_ticket(NOW, cause=Cause.STUCK, closed_by=None)


def some_entries(outside: Outside) -> tuple[TicketEntry, ...]:
    """Return an entry with what was typed."""
    return (an_entry(text=outside.html),)


def some_cases(outside: Outside) -> Iterator[Case]:
    """Yield the cases of a user with and without an order, and with a draft."""
    order, ticket = an_open_order(outside.method), an_unanswered_ticket(NOW)
    emma = User(id=1001, language_code="en", created_at=NOW, username="emma_w")
    yield Case(user_id=1001, user=None, order=order, tickets=(ticket,))
    yield Case(user_id=1001, user=emma, order=order, events=tuple(every_event_of(order)), others=(order,) * 9)
    yield Case(user_id=1001, user=emma, tickets=(ticket,), draft=a_draft_at_review(outside.method))


def some_work(outside: Outside) -> Iterator[Work]:
    """Yield the tickets that agents work on: with a reply and without one, not read, sent, closed, and set aside."""
    ticket, saved = an_unanswered_ticket(NOW).claim(3001, NOW), some_saved_replies(outside)[1]
    for case, said in product(some_cases(outside), (None, *some_entries(outside))):
        work = Work(
            ticket=ticket,
            case=case,
            status=case.order.status(NOW) if case.order else None,
            report=a_report(service_id=SERVICE_ID, state=outside.typed) if case.order else None,
            last=said,
            sent=None,
            replies=saved,
            name=saved[0].name,
            filled=outside.html,
            locale="en",
            undecided=2 if said else 0,
            link="https://t.me/c/1/2" if said else None,
        )
        yield work
        yield replace(work, ticket=ticket.pause(3001, NOW + timedelta(days=1), "", NOW), replies=(), name="", filled="")
        yield replace(work, sent=said, report=None)
        yield replace(work, ticket=a_closed_ticket(NOW), sent=said)


def some_service_orders(outside: Outside) -> Iterator[ServiceOrder]:
    """Yield orders that only the service knows: not read yet, empty, usual, and with what it could send."""
    yield ServiceOrder(service_id=SERVICE_ID)
    yield ServiceOrder(service_id=SERVICE_ID, report=a_report(service_id=SERVICE_ID, state="IDLE"), read_at=NOW)
    for text in ("BANK CENTRAL ASIA", outside.method.name, outside.typed):
        report = a_report(
            service_id=SERVICE_ID,
            state=text,
            sats=29_412,
            idr=500_000,
            btc_idr=Decimal(1_700_000_000),
            channel=text,
            bank_code=text,
            bank_name=text,
            recipient="8620123456",
            holder=text,
            created_at=NOW - timedelta(minutes=9),
            paid_at=NOW - timedelta(minutes=8),
            record=ServiceRecord(partner_redeem_id=text[:256] or None, merchant_name=text[:256] or None),
        )
        lost = (an_open_order(outside.method),)
        yield ServiceOrder(service_id=SERVICE_ID, report=report, read_at=NOW, lost=lost)


def some_order_pages(outside: Outside) -> Iterator[Page[Order]]:
    """Yield an empty page, the first and the second one."""
    yield Page(())
    for offset in (0, 10):
        yield Page((an_open_order(outside.method),) * 5, offset, has_more=not offset)


def some_results(outside: Outside) -> Iterator[Found]:
    """Yield what searches find: destinations to choose from, users, orders, both, and nothing."""
    candidates, name = (outside.method,) * 8, OrderFilter(parts=("bank",))
    yield Found(query=ParsedQuery(text="bank", wanted=name, candidates=candidates))
    yield Found(query=ParsedQuery(text="bc 500rb", wanted=OrderFilter(idr=(500_000,)), candidates=candidates))
    yield Found(query=ParsedQuery(text="@emma", wanted=OrderFilter()), users=tuple(range(1001, 1007)))
    for page, users in product(some_order_pages(outside), ((), (1001,))):
        yield Found(query=ParsedQuery(text="1001", wanted=name, method=outside.method), users=users, orders=page)


def some_ticket_pages(outside: Outside) -> Iterator[Page[TicketAndOrder]]:
    """Yield an empty page, the first and the second one."""
    yield Page(())
    for offset in (0, 10):
        both = (an_unanswered_ticket(NOW), an_open_order(outside.method)), (a_closed_ticket(NOW), None)
        yield Page(both, offset, has_more=not offset)


def some_saved_replies(outside: Outside) -> tuple[tuple[SavedReply, ...], ...]:
    """Return no replies, one with what was typed, and as many as there can be."""
    saved = SavedReply(name="a" * 20, texts={"en": outside.html, "id": outside.html}, updated_at=NOW, updated_by=3001)
    return (), (saved,), tuple(replace(saved, name=f"{number:020}") for number in range(MAX_COUNT))


def some_overviews(outside: Outside) -> Iterator[UserOverview]:
    """Yield users with all that there can be, and one of whom only orders are left."""
    order, ticket = an_open_order(outside.method), an_unanswered_ticket(NOW)
    emma = User(id=1001, created_at=NOW, last_seen_at=NOW, blocked_at=NOW, deletion_requested_at=NOW, phrase="kopi")
    counts = OrderCounts(orders=10**6, in_progress=2, paid=5, failed=1)
    draft = a_draft_at_review(outside.method)
    yield UserOverview(user_id=1001, user=emma, counts=counts, orders=(order,) * 5, tickets=(ticket,) * 5, draft=draft)
    yield UserOverview(user_id=7, user=None, counts=OrderCounts(orders=1), orders=(order,), tickets=())


SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    Ticket: some_tickets,
    Sequence[Ticket]: lambda _: (
        (),
        (an_unanswered_ticket(NOW), an_unanswered_ticket(NOW, reference="T-22222", order_reference="")),
    ),
    TicketEntry: some_entries,
    (show_line, "line"): lambda _: (
        AboutTicket("T-2345A", 1, what, who=3001, before=3002, why="support.saved_reply.name") for what in Remark
    ),
    (show_line, "entry"): some_entries,
    Case: some_cases,
    Work: some_work,
    ServiceOrder: some_service_orders,
    Page[Order]: some_order_pages,
    Page[TicketAndOrder]: some_ticket_pages,
    TicketPage: lambda outside: (
        TicketPage(which, page, dict.fromkeys(TicketFilter, 10**6))
        for which, page in product(TicketFilter, some_ticket_pages(outside))
    ),
    TicketStatistics: lambda _: (
        TicketStatistics(),
        TicketStatistics(opened=9, replied=8, closed=7, first_reply=timedelta(minutes=5), good=3, bad=1),
    ),
    UserOverview: some_overviews,
    Reveal: lambda _: (REVEAL,),
    SavedReply: lambda outside: some_saved_replies(outside)[1],
    Sequence[SavedReply]: some_saved_replies,
    Rejection: lambda _: (Rejection("support.saved_reply.name"),),
    HelpFacts: lambda _: (
        HelpFacts(minimum=20_000, a_day=a_day, times=times, contacts=contacts, tokens_offered=bool(a_day))
        for a_day, times in ((0, None), (10**8, PAYOUT_TIMES))
        for contacts in SOME_CONTACTS
    ),
    Found: some_results,
    ParsedQuery: lambda outside: (each.query for each in some_results(outside)),
    (ask_to_send, "count"): lambda _: (1, 12),
    (ask_to_send, "obstacle"): lambda _: (None, TicketClosed(), TicketHeldByAnother()),
    # A user without a part isn't a member of staff.
    (show_start, "counts"): lambda _: (dict.fromkeys(TicketFilter, 0), dict.fromkeys(TicketFilter, 10**6)),
    (str, "called"): lambda _: ("a" * 20,),
    (str, "filled"): lambda outside: (outside.html,),
    (str, "notice"): lambda outside: ("", outside.html),
    (str, "service_id"): lambda _: (SERVICE_ID,),
    (str, "contact"): lambda _: CONTACTS,
    (str, "username"): lambda _: ("b" * 32,),
    (str | None, "link"): lambda _: (None, "https://t.me/c/1/2"),
    (saved_replies.ask_to_delete, "name"): lambda _: ("a" * 20,),
    # A recipient that we don't know isn't revealed.
    (reveal_screens.show_recipient, "order"): lambda outside: (
        *(order for order in some_orders(outside) if order.number),
        *(order for order in some_service_orders(outside) if order.number),
    ),
    # The first page has a function of its own.
    (show_page, "topic"): lambda _: TOPICS,
    # Only a ticket that is closed is confirmed as such.
    (confirm_closed, "ticket"): lambda _: (a_closed_ticket(NOW),),
    # Nobody is sent to a contact that there isn't.
    (show_contact, "contact"): lambda _: CONTACTS[1:],
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    ServiceOrder: lambda order, _: (order.service_id,),
    Ticket: lambda ticket, _: (ticket.reference,),
    Work: lambda work, _: (work.ticket.reference,),
    # Its buttons lead to the ticket. The sentence says what was refused.
    (explain_not_passed_on, "ticket"): lambda *_: (),
    (reveal_screens.show_recipient, "order"): lambda order, _: (order.reference.removeprefix(MARK), order.number),
    (reveal_screens.show_masked, "order"): lambda order, _: ((order or REVEAL).reference.removeprefix(MARK),),
}


def more_screens(outside: Outside) -> Iterator[ScreenCase]:
    """Yield the steps of tickets."""
    for what in (Cause.FAILED, Cause.STUCK, "reopened", "moved", "pause_over"):
        step = AboutTicket("T-2345A", what=what, who=3001)
        yield ScreenCase("step", show_line(outside.reader, an_unanswered_ticket(NOW), step, None))

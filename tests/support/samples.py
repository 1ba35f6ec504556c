"""Values of tickets and of what support sees, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import product
from typing import Final

from bot.core.errors import Rejection
from bot.core.text import plain
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.destinations.model import PayoutTimes
from bot.orders.order import Order
from bot.settlement.model import OrderReport, ServiceRecord
from bot.support.cases.reader import Case
from bot.support.lookup.model import OrderCounts, Page, TicketPage, UserOverview
from bot.support.lookup.screens import orders as lookup_orders
from bot.support.lookup.screens import user as lookup_user
from bot.support.lookup.screens.tickets import TicketAndOrder
from bot.support.model import TicketEntry, TicketFilter
from bot.support.notification_kinds import EntryRemark, Remark
from bot.support.notifications.screens import staff_lines
from bot.support.reveal import screens as reveal_screens
from bot.support.reveal.model import Reveal
from bot.support.saved_replies import screens as saved_replies
from bot.support.saved_replies.model import MAX_COUNT, SavedReply
from bot.support.service_orders import MARK, ServiceOrder
from bot.support.staff.screens import guide, talk
from bot.support.ticket import Cause, CloseReason, Rating, Ticket, TicketClosed, TicketHeldByAnother
from bot.support.ticket_statistics import TicketStatistics
from bot.support.user_chat.facts import answer_newcomer
from bot.support.user_chat.screens import help as help_screens
from bot.support.user_chat.screens import question
from bot.support.user_chat.screens.help import HelpFacts
from bot.users.model import User
from bot.users.provider import Provider
from bot.users.screens import start
from tests.checkout.builders import a_draft_at_review
from tests.orders.builders import an_open_order, every_event_of
from tests.orders.samples import some_orders
from tests.screens import NOW, Outside, ScreenCase
from tests.settlement.builders import QUOTE
from tests.staff.samples import CONTACTS, SOME_CONTACTS
from tests.support.builders import a_closed_ticket, an_entry, an_unanswered_ticket

SERVICE_ID: Final = "cm7k2jt8x0000qz01abcd1234"
PAYOUT_TIMES: Final = PayoutTimes(orders=20, median=timedelta(minutes=3), slow=timedelta(minutes=11))
REVEAL: Final = Reveal(
    id="0" * 16, reference="ABC2345", staff_id=3001, message_id=7, at=NOW, until=NOW + timedelta(minutes=1)
)

DESTINATION_ROWS: Final = tuple((Button(f"Bank {code}", data=f"lu:find:{code}~~~~~~0"),) for code in ("014", "536"))


def some_tickets(_: Outside) -> Iterator[Ticket]:
    """Yield tickets of each cause: waiting, answered, claimed, and closed for each reason with each rating."""
    for cause in Cause:
        ticket = an_unanswered_ticket(NOW, cause=cause)
        yield ticket
        yield replace(ticket, waiting_since=None)
    yield replace(an_unanswered_ticket(NOW), order_reference="")
    yield an_unanswered_ticket(NOW).claim(3001, NOW)
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


def some_service_orders(outside: Outside) -> Iterator[ServiceOrder]:
    """Yield orders that only the service knows: not read yet, empty, usual, and with what it could send."""
    yield ServiceOrder(service_id=SERVICE_ID)
    yield ServiceOrder(service_id=SERVICE_ID, report=OrderReport(service_id=SERVICE_ID, state="IDLE"), read_at=NOW)
    for text in ("BANK CENTRAL ASIA", outside.method.name, outside.typed):
        report = OrderReport(
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
    EntryRemark: lambda _: (
        EntryRemark("T-2345A", 1, what, by=3001, before=3002, why="support.saved_reply.name") for what in Remark
    ),
    Case: some_cases,
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
    lookup_orders.GetPageData: lambda _: (str,),
    (lookup_orders.ask_destination, "find"): lambda _: (lambda code: f"find:{code}"[:64],),
    (lookup_orders.ask_destination, "candidates"): lambda outside: ((outside.method,) * 8,),
    (lookup_user.ask_which_user, "ids"): lambda _: ([1001 + number for number in range(20)],),
    (lookup_user.add_users, "users"): lambda _: ((1001,), tuple(range(1001, 1007))),
    (lookup_user.offer_destinations, "destinations"): lambda _: (DESTINATION_ROWS,),
    (staff_lines.ask_to_send, "count"): lambda _: (1, 12),
    (staff_lines.ask_to_send, "obstacle"): lambda _: (None, TicketClosed(), TicketHeldByAnother()),
    # A user without a part isn't a member of staff.
    (help_screens.show_staff_page, "parts"): lambda outside: ((Screen(outside.html),), (Screen(outside.html),) * 2),
    (guide.show_start, "counts"): lambda _: (dict.fromkeys(TicketFilter, 0), dict.fromkeys(TicketFilter, 10**6)),
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
    (help_screens.show_page, "topic"): lambda _: help_screens.TOPICS,
    # Only a ticket that is closed is confirmed as such.
    (talk.confirm_closed, "ticket"): lambda _: (a_closed_ticket(NOW),),
    # Nobody is sent to a contact that there isn't.
    (question.show_contact, "contact"): lambda _: CONTACTS[1:],
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    ServiceOrder: lambda order, _: (order.service_id,),
    Ticket: lambda ticket, _: (ticket.reference,),
    # Its buttons lead to the ticket. The sentence says what was refused.
    (talk.explain_not_passed_on, "ticket"): lambda *_: (),
    (reveal_screens.show_recipient, "order"): lambda order, _: (order.reference.removeprefix(MARK), order.number),
    (reveal_screens.show_masked, "order"): lambda order, _: ((order or REVEAL).reference.removeprefix(MARK),),
}


def more_screens(outside: Outside) -> Iterator[ScreenCase]:
    """Yield the welcome of newcomers, which gets its lines from here."""
    run_by = Provider(name=plain(outside.typed)[:100], terms_url="https://kirim.example/terms")
    for contacts, quote in product(SOME_CONTACTS, (QUOTE, None)):
        facts = HelpFacts(minimum=20_000, a_day=0, times=PAYOUT_TIMES if quote else None, contacts=contacts)
        shown = start.show_welcome(outside.t, answer_newcomer(outside.t, facts, quote, run_by))
        yield ScreenCase("start of a newcomer", shown)

"""The screens of lookups: lists, the pages of an order, a user and a ticket, and evidence.

All that the service reports comes from outside. Recipients are masked. Only a valid hash goes into a link, and nothing
is fetched.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from bot.core.locales import FALLBACK
from bot.infra.i18n import Html, Translator, choose_locale, get_zone_name
from bot.infra.telegram.ui.reader import Reader, clip, quote_input
from bot.infra.telegram.ui.screen import (
    COPY_CHARACTERS,
    TEXT_UNITS,
    Button,
    Keyboard,
    Screen,
    count_visible_units,
    in_rows,
)
from bot.orders.evidence import NAMES, PAYOUT_REFERENCE, Evidence, last_value
from bot.orders.order import Order
from bot.orders.screens.formatting import format_full_price, format_order_line, format_payer
from bot.orders.screens.order_lists import staff_status_key, status_emoji
from bot.payments.tokens import ARBITRUM, CODES, LIGHTNING
from bot.recipients.formatting import format_destination, format_method
from bot.recipients.holders import mask_name
from bot.settlement.errors import KeyRefused, OrderNotFound, SettlementFailure, SlowDown
from bot.settlement.model import FAILED, STEP_OF_STATE, OrderReport, OrderStep
from bot.staff.buttons import MAX_QUERY_BYTES, LookupButton, LookupPage
from bot.support.buttons import button, rows
from bot.support.cases import Case
from bot.support.lookup_model import (
    CHOSEN,
    PAGE_SIZE,
    Found,
    OrderFilter,
    Page,
    ParsedQuery,
    TicketPage,
    UserOverview,
    format_page,
)
from bot.support.model import Ticket, TicketFilter, TicketStatistics
from bot.support.screens import case as case_screens
from bot.support.screens.case import evidence_button, format_draft, reveal_button, user_row
from bot.support.screens.staff import show_card
from bot.support.service_orders import MARK, ServiceOrder, Subject
from bot.users.model import User


def format_subject_line(t: Translator, subject: Subject) -> Html:
    """Return the line of an order. One that only the service knows doesn't need its record."""
    if isinstance(subject, ServiceOrder):
        return t("support.service_order.line", id=subject.service_id)
    return format_order_line(t, subject)


COLUMNS = 3
SHOWN_DIGITS = 4
OPEN_TICKETS = 3
"""How many buttons to tickets an order's page has."""

TicketAndOrder = tuple[Ticket, Order | None]
"""A ticket, and the order that it is about."""

FILTERS_IN_ROWS = ((TicketFilter.OPEN, TicketFilter.MINE), (TicketFilter.UNCLAIMED, TicketFilter.CLOSED))


def show_found(reader: Reader, found: Found) -> Screen:
    """Return what a search has found, or the question which destination is meant."""
    t, query, orders = reader.t, found.query, found.orders
    if query.candidates and not found.users and not orders.items:
        nothing = t("support.lookup.none_called", what=quote_input(query.text))
        which = Html(f"{nothing} {t('support.lookup.or_destination')}")
        return Screen(which if query.wanted.is_name else t("support.lookup.which"), _destination_rows(query))
    text = list[str]()
    if found.users:
        text.append(t("support.lookup.users_found", users=Html(", ".join(map(reader.format_user, found.users)))))
    if not query.wanted.is_empty:
        entries = (f"{format_entry(reader, order)}\n{_format_owner(reader, order)}" for order in orders.items)
        text += (describe_search(reader, query), *(entries if orders.items else (t("support.lookup.nothing"),)))
    users = ((_user_button(reader, each),) for each in found.users)
    pages = _page_buttons(t, orders, LookupPage.FOUND, query.text)
    return Screen("\n\n".join(text), (*users, *_order_buttons(orders.items), *pages))


def list_orders_of(reader: Reader, user_id: int, page: Page[Order]) -> Screen:
    """Return a page of one user's orders, newest first."""
    t = reader.t
    title = t("support.lookup.orders_of", user=reader.format_user(user_id))
    entries = [format_entry(reader, order) for order in page.items] or [t("support.lookup.nothing")]
    turn = _page_buttons(t, page, LookupPage.ORDERS_OF_USER, user_id)
    return Screen("\n\n".join((title, *entries)), (*_order_buttons(page.items), *turn, user_row(t, user_id)))


def format_entry(reader: Reader, order: Order) -> Html:
    """Return an order as a list shows it: amount, masked destination, time of placing, and status."""
    t, now = reader.t, reader.now
    return t(
        "support.lookup.order",
        mark=status_emoji(order, now),
        amount=t.rupiah(order.idr or order.expected_idr),
        destination=format_destination(order.method, order.number),
        reference=order.reference,
        at=reader.format_time(order.created_at, round_up=False),
        state=t(staff_status_key(order, now)),
    )


def _format_owner(reader: Reader, order: Order) -> Html:
    if not order.user_id:
        return format_payer(reader.t, order)
    return reader.t("support.lookup.order_of", user=reader.format_user(order.user_id))


def _user_button(reader: Reader, user_id: int) -> Button:
    """Return a button with a user's name and id, which opens their page."""
    name, number = reader.name_of(user_id), str(user_id)
    label = number if name == number else f"{name} · {number}"
    return Button(label, data=LookupButton(LookupPage.USER, number).pack())


def _order_buttons(orders: Sequence[Order]) -> Keyboard:
    """Return a button to the page of each order."""
    return in_rows((_order_button(order.reference) for order in orders), COLUMNS)


def _order_button(reference: str) -> Button:
    return Button(reference, data=LookupButton(LookupPage.ORDER, reference).pack())


def _ticket_button(ticket: Ticket) -> Button:
    return Button(ticket.reference, data=LookupButton(LookupPage.TICKET, ticket.reference).pack())


def _refresh_button(t: Translator, page: LookupPage, query: object) -> Button:
    return button(t, "orders.button.refresh", LookupButton(page, str(query)))


def _page_buttons(t: Translator, page: Page[object], kind: LookupPage, subject: object) -> Keyboard:
    """Return the buttons to the previous and the next page, if their data isn't too long for a button."""
    turns = (
        ("support.lookup.back", max(page.offset - PAGE_SIZE, 0), page.offset > 0),
        ("support.lookup.more", page.offset + PAGE_SIZE, page.has_more),
    )
    queries = ((label, format_page(subject, to)) for label, to, is_there in turns if is_there)
    return rows(tuple(button(t, label, LookupButton(kind, query)) for label, query in queries if _fits(query)))


def _destination_rows(query: ParsedQuery) -> Keyboard:
    """Return a button to the orders of each destination that the query can mean."""
    found = ((method, f"{CHOSEN}{method.code} {query.text}") for method in query.candidates)
    return tuple(
        (Button(format_method(method), data=LookupButton(LookupPage.FOUND, text).pack()),)
        for method, text in found
        if _fits(text)
    )


def _fits(query: str) -> bool:
    return len(query.encode()) <= MAX_QUERY_BYTES


def show_order(reader: Reader, case: Case) -> Screen:
    """Return an order's page: its case, and the buttons to its user and its tickets."""
    t, order = reader.t, case.order
    about = [ticket for ticket in case.tickets if order and ticket.order_reference == order.reference]
    reveal = (reveal_button(t, order.reference),) if order and order.has_recipient else ()
    refresh = _refresh_button(t, LookupPage.ORDER, order.reference if order else "")
    return Screen(
        case_screens.format_case(reader, case),
        rows(
            tuple(map(_ticket_button, about[:OPEN_TICKETS])),
            (*user_row(t, case.user_id), *reveal),
            (*evidence_button(t, order), refresh),
        ),
    )


def show_ticket(reader: Reader, ticket: Ticket, case: Case, link: str | None, *, can_reply: bool = True) -> Screen:
    """Return a ticket's page, with buttons to its order and its user. `link` opens the ticket in the staff's group."""
    t, card = reader.t, show_card(reader, ticket, case, can_reply=can_reply)
    order = (_order_button(case.order.reference),) if case.order else ()
    there = (Button(t.plain("support.lookup.go_there"), url=link),) if link else ()
    refresh = _refresh_button(t, LookupPage.TICKET_HERE, ticket.reference)
    return Screen(card.text, (*card.keyboard, *rows(there, (*order, *user_row(t, case.user_id), refresh))))


def describe_search(reader: Reader, query: ParsedQuery) -> Html:
    """Return the heading of a search, with its destination, sums, parts of names, and days."""
    t, wanted, method = reader.t, query.wanted, query.method
    readings = [
        *map(t.rupiah, wanted.idr),
        *map(t.sats, wanted.sats),
        *(_format_part(t, part) for part in wanted.parts),
    ]
    amount = readings[0] if readings else ""
    if len(readings) > 1:
        amount = t.plain("support.lookup.either", one=readings[0], other=" / ".join(readings[1:]))
    where = format_method(method) if method else quote_input(wanted.code) if wanted.code else ""
    parts = [part for part in (where, amount, _days(reader, wanted)) if part]
    return t("support.lookup.sought", what=" · ".join(parts))


def _format_part(t: Translator, part: str) -> str:
    """Return a part of a name as a heading shows it. Of a long number, only the last digits are shown."""
    if part.isdecimal():
        return t.plain("support.lookup.digits", digits=part[-SHOWN_DIGITS:])
    return t.plain("support.lookup.part", part=part)


def _days(reader: Reader, wanted: OrderFilter) -> str:
    if wanted.since is None or wanted.until is None:
        return ""
    t, zone = reader.t, reader.zone
    first, last = t.date(wanted.since, zone), t.date(wanted.until - timedelta(minutes=1), zone)
    return first if first == last else t.plain("support.lookup.days", first=first, last=last)


STATUS_KEYS = {
    OrderStep.CREATED: "orders.status.waiting",
    OrderStep.PAID: "orders.status.paid",
    OrderStep.CONVERTING: "orders.status.converting",
    OrderStep.SENDING: "orders.status.sending",
    OrderStep.SENT: "orders.status.sent",
}
"""Shown for an amount that the record doesn't have."""

LONGEST_WAIT = 3600.0
"""Seconds that are shown, whatever the service asks for."""

LONGEST_STATE = 32
"""Characters of a state that nobody documented."""


def show_service_order(reader: Reader, order: ServiceOrder) -> Screen:
    """Return the page: whose order it is, its status, amount and masked recipient, and the service's times."""
    t, report = reader.t, order.report
    if report is None:
        return Screen(format_subject_line(t, order))
    text = (_origin(t, order), "\n".join(_facts(reader, order, report)), "\n".join(_times(reader, order, report)))
    reveal = (reveal_button(t, order.reference),) if order.has_recipient else ()
    evidence = button(t, "support.evidence.button", LookupButton(LookupPage.EVIDENCE, order.reference))
    last_row = (*([evidence] if order.evidence else []), _refresh_button(t, LookupPage.ORDER, order.reference))
    return Screen("\n\n".join(filter(None, text)), rows(*_order_buttons(order.lost[:COLUMNS]), reveal, last_row))


def explain_failure(t: Translator, service_id: str, failure: SettlementFailure) -> Screen:
    """Explain why the service's order can't be shown, with a button to try again."""
    match failure:
        case OrderNotFound():
            text = t("support.service_order.not_found", id=service_id)
        case SlowDown() if failure.retry_after:
            text = t("support.service_order.wait", duration=t.measured(min(failure.retry_after, LONGEST_WAIT)))
        case SlowDown():
            text = t("support.service_order.too_many")
        case KeyRefused():
            text = t("support.service_order.key_refused")
        case _:
            text = t("support.service_order.down")
    again = LookupButton(LookupPage.ORDER, f"{MARK}{service_id}")
    return Screen(text, ((button(t, "orders.button.try_again", again),),))


def _origin(t: Translator, order: ServiceOrder) -> Html:
    """Return whether the order can be one of ours."""
    if not order.lost:
        return t("support.service_order.not_ours")
    if order.is_of_deleted_user:
        return t("support.service_order.forgotten")
    references = ", ".join(f"<code>{each.reference}</code>" for each in order.lost)
    return t("support.service_order.lost", references=Html(references))


def _facts(reader: Reader, order: ServiceOrder, report: OrderReport) -> Iterator[Html]:
    t = reader.t
    yield _service_status(t, report)
    where = format_destination(order.method, "" if order.is_of_deleted_user else order.number)
    yield t("support.service_order.amount", amount=t.rupiah(report.idr), destination=where)
    if order.is_masked and not order.is_of_deleted_user:
        yield t("support.service_order.masked")
    yield t("support.case.service_id", id=order.service_id)
    reference = last_value(order.evidence, PAYOUT_REFERENCE)
    if reference is not None:
        yield t("orders.payout_reference", id=str(reference))
    channel = report.channel or LIGHTNING
    known = channel in CODES
    price = format_full_price(t, report.sats, channel) if known else f"{t.sats(report.sats)} · {quote_input(channel)}"
    yield t("orders.price.paid" if report.paid_at is not None else "orders.price.price", price=price)


def _times(reader: Reader, order: ServiceOrder, report: OrderReport) -> Iterator[Html]:
    """Return the times that the service reports, by its clock, and when we read the record, by ours."""
    t = reader.t

    def when(moment: datetime) -> str:
        return reader.format_time(moment, round_up=False)

    times = {
        "created": report.created_at,
        "paid": report.paid_at,
        "updated": report.updated_at,
        "completed": report.completed_at,
    }
    for name, moment in times.items():
        if moment is not None:
            yield t(f"support.service_order.{name}", at=when(moment))
    if order.read_at is not None:
        yield t("support.service_order.read", at=t.seconds(order.read_at, reader.zone))


def _service_status(t: Translator, report: OrderReport) -> Html:
    """Return the status in words, and the service's own word. A state that nobody documented has only that."""
    state = clip(quote_input(report.state), LONGEST_STATE)
    step = STEP_OF_STATE.get(report.state)
    key = _failure_key(report) if report.state == FAILED else None if step is None else STATUS_KEYS[step]
    if key is None:
        return t("support.service_order.state", state=state)
    return t("support.case.state", what=t(key), state=state)


def _failure_key(report: OrderReport) -> str:
    """Return the status of a failed order. For a deposit, the service records no time of the payment."""
    if report.paid_at is not None:
        return "orders.status.failed_paid"
    is_lightning = (report.channel or LIGHTNING) == LIGHTNING
    return "orders.status.failed_unpaid" if is_lightning else "orders.status.failed_unknown"


ON_ARBITRUM: Final = {
    "partner_burn_tx_hash": "support.evidence.probably_on",
    "swap_tx_hash": "support.evidence.probably_on",
    "ln_swap_tx_hash": "support.evidence.on",
}
"""The transactions, and how their chain is named. The service receives USDT on Arbitrum (settlement API, 3). It doesn't
name the chain of what it does with them after that."""

HIDDEN: Final = "•••"
"""Shown for a person's name that has no letter to show."""


def show_evidence(reader: Reader, order: Subject) -> Screen:
    """Return all evidence that fits, the payout reference first, with buttons to copy and to look it up."""
    t = reader.t
    text = t("support.evidence.heading", line=format_subject_line(t, order))
    left = TEXT_UNITS - count_visible_units(text) - count_visible_units(t("support.evidence.no_room"))
    for name in NAMES:
        if last_value(order.evidence, name) is None:
            continue
        entry = "\n".join(_evidence_lines(reader, order, name))
        left -= count_visible_units(entry) + 2
        if left < 0:
            text = Html(f"{text}\n\n{t('support.evidence.no_room')}")
            break
        text = Html(f"{text}\n\n{entry}")
    label = t.plain("support.service_order.back") if isinstance(order, ServiceOrder) else order.reference
    back = Button(label, data=LookupButton(LookupPage.ORDER, order.reference).pack())
    refresh = _refresh_button(t, LookupPage.EVIDENCE, order.reference)
    return Screen(text, (*_value_rows(t, order.evidence), (back, refresh)))


def _evidence_lines(reader: Reader, order: Subject, name: str) -> Iterator[str]:
    """Yield the lines of one name: its values, the last one first, and what has to be known about them."""
    t = reader.t
    yield f"<b>{_evidence_label(t, name)}</b>"
    yield from (_evidence_line(reader, each) for each in reversed(order.evidence) if each.name == name)
    if name == "partner_amount_idr" and (agreed := _agreed_idr(order)) is not None:
        yield t("support.evidence.agreed", amount=t.rupiah(agreed))
    if name in ON_ARBITRUM:
        yield t(ON_ARBITRUM[name], chain=ARBITRUM.name)


def _agreed_idr(order: Subject) -> int | None:
    if isinstance(order, ServiceOrder):
        return order.report.idr if order.report else None
    return order.idr or order.expected_idr


def _evidence_label(t: Translator, name: str) -> Html:
    return t("orders.payout_reference.name") if name == PAYOUT_REFERENCE else t(f"support.evidence.name.{name}")


def _evidence_line(reader: Reader, evidence: Evidence) -> Html:
    t, value = reader.t, evidence.value
    seen = reader.format_time(evidence.seen_at, round_up=False)
    if isinstance(value, datetime):
        return t("support.evidence.reported", value=reader.format_time(value, round_up=False), seen=seen)
    if isinstance(value, int):
        return t("support.evidence.reported", value=t.rupiah(value), seen=seen)
    if evidence.name == "merchant_name":
        return t("support.evidence.reported", value=mask_name(value) or HIDDEN, seen=seen)
    return t("support.evidence.reported_code", value=value, seen=seen)


def _value_rows(t: Translator, evidence: Sequence[Evidence]) -> Iterator[tuple[Button, ...]]:
    """Yield the buttons of the last value of each name: one to copy it, and one to a transaction's page."""
    for name in NAMES:
        value = last_value(evidence, name)
        if isinstance(value, str) and name != "merchant_name" and len(value) <= COPY_CHARACTERS:
            copy = Button(t.plain("support.evidence.copy", what=_evidence_label(t, name)), copy=value)
            url = ARBITRUM.transaction_url(value) if name in ON_ARBITRUM else None
            yield (copy, *([Button(t.plain("support.evidence.explorer"), url=url)] if url else []))


SHORT = timedelta(minutes=2)


def format_ticket_times(t: Translator, statistics: TicketStatistics) -> Html:
    """Return the lines with a value; empty if no ticket was opened."""
    if not statistics.opened:
        return Html("")
    found = [t("support.ticket_times.opened", opened=statistics.opened, closed=statistics.closed)]
    if statistics.first_reply is not None:
        median = format_length(t, statistics.first_reply)
        found.append(t("support.ticket_times.first_answer", median=median, count=statistics.replied))
    if statistics.close is not None:
        found.append(
            t("support.ticket_times.close", median=format_length(t, statistics.close), count=statistics.closed)
        )
    if statistics.good or statistics.bad:
        found.append(t("support.ticket_times.rated", good=statistics.good, bad=statistics.bad))
    return Html("\n".join(found))


def format_length(t: Translator, time: timedelta) -> str:
    """Return a duration; below two minutes, in seconds."""
    return t.plural("infra.time.seconds", round(time.total_seconds())) if time < SHORT else t.duration(time)


def show_user(reader: Reader, about: UserOverview) -> Screen:
    """Return the page. It shows nothing that the user wrote, except masked in a draft."""
    t, user = reader.t, about.user
    language = t.language(choose_locale(user.locale, user.language_code) if user else FALLBACK)
    heading = t("support.case.person", user=reader.format_user(about.user_id), language=language)
    tickets = [f"• {case_screens.format_ticket_line(reader, each)}" for each in about.tickets]
    text = (
        "\n".join([heading, *_user_status(reader, user)]),
        format_draft(reader, about.draft) if about.draft is not None else "",
        "\n".join([_counts(t, about), *(f"\n{format_entry(reader, order)}" for order in about.orders)]),
        "\n".join([t("support.lookup.tickets_of_person"), *tickets]) if tickets else "",
    )
    lists = (
        ("support.lookup.all_orders", LookupPage.ORDERS_OF_USER, about.counts.orders),
        ("support.lookup.all_tickets", LookupPage.TICKETS_OF_USER, len(about.tickets)),
    )
    last_row = (
        *(button(t, label, LookupButton(page, format_page(about.user_id))) for label, page, count in lists if count),
        _refresh_button(t, LookupPage.USER, about.user_id),
    )
    return Screen(
        "\n\n".join(filter(None, text)),
        rows(*_order_buttons(about.orders), tuple(map(_ticket_button, about.tickets)), last_row),
    )


def _user_status(reader: Reader, user: User | None) -> Iterator[Html]:
    if user is None:
        return
    t = reader.t
    yield t("support.lookup.known_since", at=reader.format_time(user.created_at, round_up=False))
    if user.last_seen_at is not None:
        yield t("support.lookup.last_seen", day=reader.format_day(user.last_seen_at))
    yield t("support.lookup.their_zone", zone=get_zone_name(reader.now.astimezone(user.zone), user.zone))
    if user.blocked_at is not None:
        yield t("support.lookup.blocked", at=reader.format_time(user.blocked_at, round_up=False))
    if user.deletion_requested_at is not None:
        yield t("support.lookup.leaving", at=reader.format_time(user.deletion_requested_at, round_up=False))


def _counts(t: Translator, about: UserOverview) -> Html:
    counts = about.counts
    if not counts.orders:
        return t("support.lookup.no_orders")
    return t(
        "support.lookup.tally",
        orders=counts.orders,
        under_way=counts.in_progress,
        paid=counts.paid,
        failed=counts.failed,
    )


def list_tickets(reader: Reader, listed: TicketPage, statistics: TicketStatistics) -> Screen:
    """Return a page of a list of tickets. It ends with the reply times of the last week.

    The button of the current list is marked, and refreshes it.
    """
    t, which = reader.t, listed.which

    def filter_button(each: TicketFilter) -> Button:
        label = t.plain(f"support.lookup.list.{each}", count=listed.counts[each])
        data = LookupButton(LookupPage.TICKETS, format_page(each)).pack()
        return Button(f"• {label}" if each is which else label, data=data)

    title = t(f"support.lookup.tickets.{which}", count=listed.counts[which])
    filters = tuple(tuple(map(filter_button, row)) for row in FILTERS_IN_ROWS)
    turn = _page_buttons(t, listed.page, LookupPage.TICKETS, which)
    shown = _list_tickets(reader, title, listed.page.items, (*turn, *filters))
    times = format_ticket_times(t, statistics)
    return replace(shown, text=f"{shown.text}\n\n<b>{t('support.ticket_times.week')}</b>\n{times}") if times else shown


def list_tickets_of(reader: Reader, user_id: int, page: Page[TicketAndOrder]) -> Screen:
    """Return a page of a user's tickets, the open ones first."""
    t = reader.t
    title = t("support.lookup.tickets_of", user=reader.format_user(user_id))
    turn = _page_buttons(t, page, LookupPage.TICKETS_OF_USER, user_id)
    return _list_tickets(reader, title, page.items, (*turn, user_row(t, user_id)))


def _list_tickets(reader: Reader, title: Html, items: Sequence[TicketAndOrder], more: Keyboard) -> Screen:
    t = reader.t
    entries = [
        f"{_ticket_status(reader, ticket)}\n"
        + (t("support.lookup.ticket_without") if order is None else case_screens.format_order_state(reader, order))
        for ticket, order in items
    ]
    text = "\n\n".join([title, *(entries or [t("support.lookup.no_tickets")])])
    return Screen(text, (*in_rows((_ticket_button(ticket) for ticket, _ in items), COLUMNS), *more))


def _ticket_status(reader: Reader, ticket: Ticket) -> str:
    """Return the ticket's reference, status, cause and times."""
    t = reader.t
    lines = [
        t(
            "support.lookup.ticket",
            line=case_screens.format_ticket_line(reader, ticket),
            cause=t(f"support.lookup.cause.{ticket.cause}"),
            at=reader.format_time(ticket.created_at, round_up=False),
        )
    ]
    if ticket.paused_until is not None:
        lines.append(t("support.staff_ticket.paused", at=reader.format_time(ticket.paused_until)))
    elif ticket.waiting_since is not None:
        lines.append(t("support.lookup.waits", duration=t.duration(reader.now - ticket.waiting_since)))
    if ticket.closed_at is not None and ticket.close_reason is not None:
        at = reader.format_time(ticket.closed_at, round_up=False)
        lines.append(t("support.lookup.closed", reason=t(f"support.staff_ticket.reason.{ticket.close_key}"), at=at))
    return "\n".join(lines)

"""The screens of orders found: lists with masked recipients, and the page of one order."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import quote_input
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.order import Order
from bot.orders.screens.formatting import format_order_line, format_payer
from bot.orders.screens.open_orders import staff_status_key, status_emoji
from bot.recipients.formatting import format_destination, format_method
from bot.settlement.model import PayoutMethod
from bot.support.buttons import LookupButton, LookupPage, StaffTicketAction, StaffTicketButton
from bot.support.cases.reader import Case
from bot.support.cases.screens import case as case_screens
from bot.support.cases.screens.case import evidence_button, reveal_button, user_row
from bot.support.lookup.model import PAGE_SIZE, OrderFilter, Page
from bot.support.service_orders import ServiceOrder, Subject


def format_subject_line(t: Translator, subject: Subject) -> Html:
    """Return the line of an order."""
    return format_service_order_line(t, subject) if isinstance(subject, ServiceOrder) else format_order_line(t, subject)


def format_service_order_line(t: Translator, order: ServiceOrder) -> Html:
    """Return the line of an order that only the service knows. It doesn't need the record."""
    return t("support.service_order.line", id=order.service_id)


COLUMNS = 3
SHOWN_DIGITS = 4
OPEN_TICKETS = 3
"""How many buttons to tickets an order's page has."""

GetPageData = Callable[[int], str | None]
"""Returns the callback data of the page at an offset, or None if it is too long for a button."""


def list_orders(reader: Reader, title: Html, page: Page[Order], turn: GetPageData) -> Screen:
    """Return a page of orders of all users, newest first."""
    entries = [f"{format_entry(reader, order)}\n{_format_owner(reader, order)}" for order in page.items]
    return _list(reader.t, title, entries, page, turn)


def list_orders_of(reader: Reader, user_id: int, page: Page[Order], turn: GetPageData) -> Screen:
    """Return a page of one user's orders, newest first."""
    t = reader.t
    title = t("support.lookup.orders_of", user=reader.format_user(user_id))
    return _list(t, title, [format_entry(reader, order) for order in page.items], page, turn, user_row(t, user_id))


def _list(
    t: Translator, title: Html, entries: Sequence[str], page: Page[Order], turn: GetPageData, *more: tuple[Button, ...]
) -> Screen:
    text = "\n\n".join([title, *(entries or [t("support.lookup.nothing")])])
    return Screen(text, (*order_buttons(page.items), *page_buttons(t, page, turn), *more))


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


def order_buttons(orders: Sequence[Order]) -> Keyboard:
    """Return a button to the page of each order."""
    buttons = [Button(order.reference, data=LookupButton(LookupPage.ORDER, order.reference).pack()) for order in orders]
    return tuple(tuple(buttons[start : start + COLUMNS]) for start in range(0, len(buttons), COLUMNS))


def page_buttons(t: Translator, page: Page[object], turn: GetPageData) -> Keyboard:
    """Return the buttons to the previous and the next page."""
    back = turn(max(page.offset - PAGE_SIZE, 0)) if page.offset else None
    more = turn(page.offset + PAGE_SIZE) if page.has_more else None
    row = (
        *([Button(t.plain("support.lookup.back"), data=back)] if back else []),
        *([Button(t.plain("support.lookup.more"), data=more)] if more else []),
    )
    return (row,) if row else ()


def show_order(reader: Reader, case: Case) -> Screen:
    """Return an order's page: its case, and the buttons to its user and its tickets."""
    t = reader.t
    text = case_screens.format_case(reader, case)
    about = [ticket for ticket in case.tickets if case.order and ticket.order_reference == case.order.reference]
    tickets = tuple(
        Button(ticket.reference, data=StaffTicketButton(ticket.reference, StaffTicketAction.SHOW).pack())
        for ticket in about[:OPEN_TICKETS]
    )
    refresh = LookupButton(LookupPage.ORDER, case.order.reference if case.order else "").pack()
    has_recipient = case.order is not None and case.order.has_recipient
    reveal = (reveal_button(t, case.order.reference),) if case.order and has_recipient else ()
    ways = (*user_row(t, case.user_id), *reveal)
    last_row = (*evidence_button(t, case.order), Button(t.plain("orders.button.refresh"), data=refresh))
    rows = [row for row in (tickets, ways, last_row) if row]
    return Screen(text, tuple(rows))


def format_search(reader: Reader, wanted: OrderFilter, method: PayoutMethod | None) -> Html:
    """Return the heading of a search, with its destination, sums, parts of names, and days."""
    t = reader.t
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


def ask_destination(t: Translator, candidates: Sequence[PayoutMethod], find: Callable[[str], str | None]) -> Screen:
    """Ask which of several destinations is meant. `find` returns the callback data for a code."""
    return Screen(t("support.lookup.which"), destination_rows(candidates, find))


def destination_rows(candidates: Sequence[PayoutMethod], find: Callable[[str], str | None]) -> Keyboard:
    """Return a button to the orders of each destination."""
    found = [(method, find(method.code)) for method in candidates]
    return tuple((Button(format_method(method), data=data),) for method, data in found if data is not None)


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

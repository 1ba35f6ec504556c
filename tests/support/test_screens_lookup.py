"""The screens of lookups fit a message, mask recipients, and have valid buttons."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Phase, payer_on_page
from bot.settlement.model import PayoutMethod
from bot.staff.buttons import LookupButton, LookupPage
from bot.support.cases import Case
from bot.support.lookup_model import (
    PAGE_SIZE,
    Found,
    OrderCounts,
    OrderFilter,
    Page,
    ParsedQuery,
    TicketPage,
    UserOverview,
    format_page,
    parse_page,
)
from bot.support.model import Cause, CloseReason, Ticket, TicketFilter, TicketStatistics
from bot.support.screens import lookups as screens
from bot.support.screens.lookups import (
    describe_search,
    format_ticket_times,
    list_orders_of,
    show_found,
    show_order,
    show_ticket,
)
from bot.users.model import User
from tests.orders.builders import an_open_order, as_sent
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS, label, name_of, says, text

EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
READER = Reader(EN, JAKARTA, NOW)
LONGEST_TEXT = 4096
HOUR = timedelta(hours=1)
TIMES = TicketStatistics(opened=9, replied=8, closed=7, first_reply=timedelta(minutes=5), close=HOUR, good=3, bad=1)
EMMA = User(
    id=1001,
    language_code="en",
    created_at=NOW - 50 * HOUR,
    last_seen_at=NOW - 2 * HOUR,
    blocked_at=NOW - HOUR,
    deletion_requested_at=NOW,
    time_zone="Asia/Makassar",
    phrase="kopi tubruk",
    username="emma_w",
)


def turn(offset: int) -> str:
    return LookupButton(LookupPage.ORDERS_OF_USER, format_page(1001, offset)).pack()


def list_of(count: int, offset: int = 0, *, has_more: bool = False, **facts: Any) -> ScreenCase:
    orders = tuple(an_open_order(reference=f"ABC234{number}", **facts) for number in range(count))
    page = Page(orders, offset, has_more)
    return ScreenCase("orders", list_orders_of(READER, 1001, page))


def ticket(**facts: Any) -> Ticket:
    return replace(Ticket.open(1001, NOW - 3 * HOUR, order_reference="ABC2345"), **facts)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_full_page_of_any_banks_orders_fits_and_shows_no_number_and_no_holder(name: str) -> None:
    seen = list_of(PAGE_SIZE, 6, has_more=True, method=PayoutMethod("014", name, "bank", None))
    assert seen.units <= LONGEST_TEXT
    assert "1234567890" not in seen.text
    assert "SANTOSO" not in seen.text
    assert [button.data for button in seen.buttons[-3:-1]] == ["lu:orders:1001~0", "lu:orders:1001~12"]


@pytest.mark.parametrize(
    ("offset", "has_more", "pages"),
    [(0, False, []), (0, True, [6]), (6, False, [0]), (6, True, [0, 12]), (3, True, [0, 9])],
)
def test_only_pages_that_there_are_can_be_turned_to(offset: int, has_more: bool, pages: list[int]) -> None:  # noqa: FBT001  a table's column
    assert [button.data for button in list_of(1, offset, has_more=has_more).buttons][1:-1] == [turn(to) for to in pages]


def found(**facts: Any) -> ScreenCase:
    query = ParsedQuery(text="bca", wanted=OrderFilter(code="014"))
    return ScreenCase("found", show_found(READER, Found(query=query, orders=Page((an_open_order(**facts),)))))


def test_an_order_of_somebody_who_was_deleted_names_nobody() -> None:
    assert says(found(user_id=0, number="").text, "orders.payer.deleted")
    assert says(found(payer=payer_on_page("a secret")).text, "orders.payer.page")
    reachable = found(payer=payer_on_page("a secret"), contact="budi@example.com").text
    assert says(reachable, "orders.payer.page_contact")
    assert "budi" not in reachable
    case = Case(user_id=0, user=None, order=an_open_order(user_id=0, number="", holder=None))
    page = ScreenCase("order", show_order(READER, case))
    assert [button.data for button in page.buttons] == ["lu:order:ABC2345"], "nobody to look up, nothing to reveal"


def test_an_orders_page_leads_to_its_user_its_tickets_and_its_full_recipient() -> None:
    about, other = ticket(), ticket(order_reference="")
    case = Case(user_id=1001, user=EMMA, order=an_open_order(), tickets=(about, other))
    buttons = ScreenCase("order", show_order(READER, case)).buttons
    assert [button.data for button in buttons] == [
        f"lu:ticket:{about.reference}",
        "lu:person:1001",
        "rv:ABC2345:ask",
        "lu:order:ABC2345",
    ]


@pytest.mark.parametrize("locale", LOCALES)
def test_a_users_page_says_how_they_stand_and_nothing_of_their_own(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    about = UserOverview(
        user_id=1001,
        user=EMMA,
        counts=OrderCounts(orders=9, in_progress=2, paid=5, failed=1),
        orders=(an_open_order(), an_open_order(reference="DEF2345", phase=Phase.DONE)),
        tickets=(ticket(),),
    )
    seen = ScreenCase("person", screens.show_user(Reader(t, JAKARTA, NOW), about))
    said = ["1001", "WITA", "ABC2345", "DEF2345", about.tickets[0].reference]
    assert [each for each in said if each not in seen.text] == []
    assert not any(secret in seen.text for secret in ("kopi tubruk", "emma_w", "1234567890", "SANTOSO"))
    assert seen.units <= LONGEST_TEXT


def test_a_user_of_whom_only_orders_are_left_has_a_page() -> None:
    about = UserOverview(user_id=7, user=None, counts=OrderCounts(orders=1), orders=(an_open_order(),), tickets=())
    seen = ScreenCase("person", screens.show_user(READER, about))
    assert says(seen.text, "support.case.person", user="7", language=name_of("en"))
    assert label("support.lookup.all_orders") in [button.label for button in seen.buttons]
    assert label("support.lookup.all_tickets") not in [button.label for button in seen.buttons]


@pytest.mark.parametrize("which", TicketFilter)
@pytest.mark.parametrize("locale", LOCALES)
def test_every_list_of_tickets_fits_and_leads_to_the_others(which: TicketFilter, locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    bank = PayoutMethod("014", "B" * 200, "bank", None)
    tickets = [
        ticket(cause=Cause.FAILED),
        ticket(cause=Cause.STUCK, claimed_by=2**52, waiting_since=None),
        *(ticket().close(3001, reason, NOW) for reason in CloseReason),
    ]
    page = Page(tuple((each, an_open_order(method=bank)) for each in tickets), 6, has_more=True)
    listed = TicketPage(which, page, dict.fromkeys(TicketFilter, 1_234))
    seen = ScreenCase("tickets", screens.list_tickets(Reader(t, JAKARTA, NOW), listed, TIMES))
    assert seen.units <= LONGEST_TEXT
    assert all(each.reference in seen.text for each in tickets)
    assert str(format_ticket_times(t, TIMES)).split("\n")[0] in seen.screen.text, "how long people waited"
    filters = [button for button in seen.buttons if t.number(1_234) in button.label]
    assert [button.data for button in filters] == [f"lu:tickets:{each}~0" for each in TicketFilter]
    assert [button.data for button in filters if button.label.startswith("•")] == [f"lu:tickets:{which}~0"]


def test_the_list_of_tickets_says_the_state_of_each_order_now() -> None:
    page = Page(((ticket(cause=Cause.STUCK), as_sent(an_open_order())), (ticket(), an_open_order())))
    seen = ScreenCase("tickets", _of_user(page)).text
    assert f"ABC2345, {text('orders.status.sent')}" in seen
    assert f"ABC2345, {text('orders.status.waiting')}" in seen


def test_a_ticket_about_no_order_and_a_list_of_none_say_so() -> None:
    page = Page(((ticket(order_reference=""), None),))
    assert says(ScreenCase("tickets", _of_user(page)).text, "support.lookup.ticket_without")
    assert ScreenCase("tickets", _of_user(Page(()))).text.endswith(text("support.lookup.no_tickets"))


def _of_user(page: Page[Any]) -> Screen:
    return screens.list_tickets_of(READER, 1001, page)


def test_a_tickets_page_leads_to_where_it_is_answered() -> None:
    case, shown = Case(user_id=1001, user=EMMA, order=an_open_order()), ticket()
    about = shown.reference
    link = "https://t.me/c/2000000001/7/8"
    seen = ScreenCase("ticket", show_ticket(READER, shown, case, link))
    assert [button.url for button in seen.buttons if button.url] == [link]
    assert [button.data for button in seen.buttons][-3:] == [
        "lu:order:ABC2345",
        "lu:person:1001",
        f"lu:again:{about}",
    ]
    assert says(seen.text, "support.staff_ticket.waits", at="07:05 WIB")


@pytest.mark.parametrize(
    ("sought", "said"),
    [
        (OrderFilter(code="014", idr=(500_000,)), "BCA · Rp500,000"),
        (OrderFilter(idr=(1_500, 1_500_000)), label("support.lookup.either", one="Rp1,500", other="Rp1,500,000")),
        (
            OrderFilter(sats=(25_000,), since=NOW, until=NOW + 24 * HOUR),
            f"25,000 sats · {label('support.lookup.days', first='17 Aug 2026', last='18 Aug 2026')}",
        ),
    ],
)
def test_what_is_sought_is_said_back(sought: OrderFilter, said: str) -> None:
    query = ParsedQuery(text="", wanted=sought, method=LISTED_BCA if sought.code else None)
    shown = ScreenCase("sought", Screen(describe_search(READER, query))).text
    assert shown == text("support.lookup.sought", what=said)


@pytest.mark.parametrize("typed", ["bca 500rb 17/8", "~1,5jt", "=014 bc kemarin", "1 1 2001", "½ juta: ovo"])
def test_the_pages_of_a_search_repeat_what_was_typed(typed: str) -> None:
    query = ParsedQuery(text=typed, wanted=OrderFilter(code="014"))
    found = Found(query=query, orders=Page((an_open_order(),), 6, has_more=True))
    (back, more) = ScreenCase("found", show_found(READER, found)).buttons[-2:]
    for button, offset in ((back, 0), (more, 12)):
        read = LookupButton.read(button.data or "")
        assert read is not None
        assert parse_page(read.query) == (typed, offset)


def test_what_is_too_long_for_a_button_has_no_pages() -> None:
    query = ParsedQuery(text="x" * 60, wanted=OrderFilter(code="014"))
    found = Found(query=query, orders=Page((an_open_order(),), 6, has_more=True))
    assert [button.data for button in ScreenCase("found", show_found(READER, found)).buttons] == ["lu:order:ABC2345"]


@pytest.mark.parametrize(
    ("query", "read"), [("1001~6", ("1001", 6)), ("open", ("open", 0)), ("x~-5", ("x", 0)), ("x~99999", ("x", 0))]
)
def test_a_place_in_a_list_is_read_back(query: str, read: tuple[str, int]) -> None:
    assert parse_page(query) == read

"""Every screen is found, also a new one, and its sentences are set with care in both languages."""

import re
from functools import cache
from typing import Final

import pytest

from bot.infra.i18n import LOCALES
from bot.orders.history import HistoryPage
from bot.orders.order import Failure, Order
from bot.staff.model import Alarm
from bot.support.model import Ticket
from bot.users.buttons import NewOrderButton
from tests.architecture.every_screen import every_screen
from tests.screens import Outside, ScreenCase, check_screen
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS

OF_STAFF = ("bot/staff/screens.py", *(f"bot/support/screens/{each}.py" for each in ("lookups", "case", "staff")))
"""The screens that staff see, except a reveal."""


@cache
def plain_screens(locale: str) -> tuple[ScreenCase, ...]:
    """Return every screen of one language, without anything hostile."""
    return tuple(every_screen(Outside(TRANSLATIONS.get(locale), LISTED_BCA)))


@pytest.mark.parametrize("locale", LOCALES)
def test_sentences_are_set_with_care(locale: str) -> None:
    for seen in plain_screens(locale):
        check_screen(seen)
        text = seen.text.replace(": \n", ":\n")  # a list follows
        assert not re.search(r"  | $|^ |\n{3}| \n|None\b(?!\.)|\bnull\b", text), f"{seen.name}: {text}"
        assert text == text.strip(), f"{seen.name}: {text!r}"
        assert not re.search(r"\(\)|→ *$|· *$", text), f"{seen.name}: {text}"


def test_an_order_is_never_shown_with_the_whole_number_to_staff() -> None:
    for locale in LOCALES:
        staff = [seen for seen in plain_screens(locale) if seen.name.startswith(OF_STAFF)]
        assert {seen.name for seen in staff} > {"bot/support/screens/lookups.py: show_order"}
        assert not any("1234567890" in seen.screen.text or "SANTOSO" in seen.screen.text for seen in staff)


OF_TROUBLE: Final = (
    "bot/operations/screens.py: show_status",
    "bot/orders/screens/order_messages.py: show_no_order",
    "bot/orders/screens/order_messages.py: show_other_invoice",
    "bot/payment_requests/paying/screens.py: show_reported",
    *(
        f"bot/support/screens/user.py: {each}"
        for each in ("ask", "confirm", "describe", "explain", "offer", "show_contact")
    ),
)
"""Screens that are about trouble, whatever they show. The others are if an order, a ticket or an alarm says so."""


def is_in_trouble(shown: object) -> bool:
    """Return whether a screen of this value is about trouble with money."""
    match shown:
        case Order():
            return shown.is_overdue or shown.failure in {Failure.PAID, Failure.UNKNOWN}
        case Ticket():
            return shown.is_open
        case Alarm():
            return True
        case HistoryPage(orders=shown):
            return is_in_trouble(shown)
        case tuple() | list():
            return any(is_in_trouble(each) for each in shown)
    return False


@pytest.mark.parametrize("locale", LOCALES)
def test_no_screen_about_trouble_has_a_primary_button_to_send_rupiah(locale: str) -> None:
    of_trouble = [
        seen for seen in plain_screens(locale) if seen.name.startswith(OF_TROUBLE) or is_in_trouble(seen.given)
    ]
    asking = [seen for seen in of_trouble for button in seen.buttons if button.data == NewOrderButton().pack()]
    assert {seen.name.rpartition("/")[2] for seen in asking} > {
        "help.py: show_first_page",
        "order_lists.py: show_history",
    }
    for seen in asking:
        styles = {button.style for button in seen.buttons if button.data == NewOrderButton().pack()}
        assert styles == {None}, f"{seen.name}: {seen.text}"

"""Every screen is found, also a new one, and its sentences are set with care in both languages."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Final

import pytest

from bot.infra.i18n import LOCALES, Translator
from bot.infra.telegram.ui.screen import Screen
from bot.orders.history import HistoryPage
from bot.orders.order import Failure, Order
from bot.settlement.model import PayoutMethod
from bot.staff.model import Alarm
from bot.support.model import Ticket
from bot.users.buttons import NewOrderButton
from tests.architecture.every_screen import every_screen, find_screens, screens_in, screens_of
from tests.screens import Outside, ScreenCase, check_screen
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS

EN = TRANSLATIONS.get("en")
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


def test_markup_from_outside_stays_text() -> None:
    evil = replace(LISTED_BCA, name="<b>EVIL</b> & Co")
    shown = [seen for seen in every_screen(Outside(EN, evil)) if "EVIL" in seen.text]
    assert len(shown) > 50
    assert all("<b>EVIL</b> & Co" in seen.text for seen in shown)


def test_an_order_is_never_shown_with_the_whole_number_to_staff() -> None:
    for locale in LOCALES:
        staff = [seen for seen in plain_screens(locale) if seen.name.startswith(OF_STAFF)]
        assert {seen.name for seen in staff} > {"bot/support/screens/lookups.py: show_order"}
        assert not any("1234567890" in seen.screen.text or "SANTOSO" in seen.screen.text for seen in staff)


def test_screens_are_found_in_modules_named_so_and_in_steps() -> None:
    found = {f"{function.__module__}.{function.__name__}" for function in find_screens()}
    assert {
        "bot.checkout.steps.review.show_review",
        "bot.orders.screens.order_lists.show_open_orders",
        "bot.recipients.screens.show_list",
    } < found


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


def a_module(function: Callable[..., Screen]) -> ModuleType:
    """Return a module of the orders with this screen in it."""
    module = ModuleType("bot.orders.screens.new")
    function.__module__ = module.__name__
    vars(module)[function.__name__] = function
    return module


def test_a_new_screen_is_read_with_what_comes_from_outside() -> None:
    def show_badly(t: Translator, method: PayoutMethod | None, typed: str, *, is_new: bool) -> Screen:
        return Screen(f"{t('orders.dropped', line=method.name if method else '')} {is_new} {typed}")

    (function,) = screens_in(a_module(show_badly))
    shown = [seen.screen.text for seen in screens_of(function, Outside(EN, LISTED_BCA, "<evil>"))]
    assert len(shown) == len(("BCA", "GoPay", None)) * len((True, False))
    assert all(text.endswith("<evil>") for text in shown)


def test_a_screen_of_a_type_without_samples_says_where_to_add_them() -> None:
    @dataclass
    class Coupon:
        code: str

    def show_coupon(t: Translator, coupon: object) -> Screen:
        return Screen(t("orders.dropped", line=str(coupon)))

    show_coupon.__annotations__["coupon"] = Coupon
    (function,) = screens_in(a_module(show_coupon))
    with pytest.raises(AssertionError, match=r"show_coupon takes `coupon`, a Coupon: .* tests/orders/samples\.py"):
        next(screens_of(function, Outside(EN, LISTED_BCA)))

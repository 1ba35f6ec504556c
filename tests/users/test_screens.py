"""The settings show the saved values and their buttons are answered. `/privacy` fits a message, without numbers."""

from dataclasses import replace
from typing import Any

import pytest

from bot.checkout.user_data import stored_drafts
from bot.home.screens import show_settings
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order, Phase
from bot.orders.user_data import OpenOrders
from bot.rates.user_data import stored_rate_updates
from bot.recipients.model import SavedRecipient
from bot.recipients.user_data import stored_recipients
from bot.settlement.model import OrderStep, PayoutMethod
from bot.support.user_data import stored_tickets
from bot.users import screens
from bot.users.model import Provider, User
from bot.users.privacy import DeletionBlockers, Overview
from bot.users.screens import (
    ask_zone,
)
from bot.users.user_data import MAX_LISTED
from tests.architecture.every_screen import screens_of_modules
from tests.examples import some
from tests.orders.builders import ORDER_LINE, an_open_order, orders_in_each_state, what_is_stored
from tests.screens import HOSTILE_NAMES, NOW, Outside, ScreenCase, check_screen
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS, says, text
from tests.users.builders import a_reader


def user(**changes: object) -> User:
    return User(id=1001, created_at=NOW, **changes)  # type: ignore[arg-type]


def read(screen: Screen) -> str:
    return ScreenCase("settings", screen).text


@pytest.mark.parametrize(
    ("zone", "time"),
    [
        ("", "10:05 WIB"),
        ("Asia/Jakarta", "10:05 WIB"),
        ("Asia/Makassar", "11:05 WITA"),
        ("Asia/Tokyo", "12:05 UTC+9 · Tokyo"),
        ("Etc/GMT+3", "00:05 UTC-3"),
        ("Asia/Kathmandu", "08:50 UTC+5:45 · Kathmandu"),
        ("Mars/Base", "10:05 WIB"),
    ],
)
def test_a_time_zone_is_shown_as_its_clock_and_its_place(zone: str, time: str) -> None:
    t = TRANSLATIONS.get("en")
    emma = user(time_zone=zone)
    reader = a_reader(t, emma)
    assert says(read(show_settings(reader, emma)), "home.settings.text", time=time)
    assert read(ask_zone(reader)) == text("users.zone.ask", time=time)


NUMBER = "7731004455"


def a_recipient(method: PayoutMethod, typed: str) -> SavedRecipient:
    return SavedRecipient(
        id="r", user_id=1, method=method, number=NUMBER, label=typed, holder=typed, created_at=NOW, last_used_at=NOW
    )


def the_order(method: PayoutMethod, typed: str) -> Order:
    return an_open_order(method, number=NUMBER, holder=typed, refusal=typed * 10)


def stored(method: PayoutMethod = LISTED_BCA, typed: str = "Ibu", times: int = 1, **about: Any) -> Overview:
    """Return an overview of a user's data, with `times` as many recipients and orders."""
    return overview((the_order(method, typed),) * times, method, typed, times, **about)


def overview(
    orders: tuple[Order, ...], method: PayoutMethod = LISTED_BCA, typed: str = "Ibu", times: int = 1, **about: Any
) -> Overview:
    return Overview(
        User(id=2**52, created_at=NOW, **about),
        (
            stored_recipients((a_recipient(method, typed),) * min(times, MAX_LISTED), times),
            what_is_stored(orders),
            stored_drafts(1),
            stored_rate_updates(None, 0),
            stored_tickets((), 0),
        ),
    )


def waiting_for(*orders: Order) -> DeletionBlockers:
    return DeletionBlockers((OpenOrders(orders),))


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", some([*HOSTILE_NAMES, "🙈" * 4096, "BCA"]))
def test_no_screen_shows_a_number_in_full(locale: str, name: str) -> None:
    outside = Outside(TRANSLATIONS.get(locale), PayoutMethod("x", name, "bank", None), name)
    for seen in screens_of_modules(outside, screens):
        assert "34567890" not in seen.text, seen.name


@pytest.mark.parametrize("locale", LOCALES)
def test_the_confirmation_names_orders_whose_payout_failed(locale: str) -> None:
    failed = replace(an_open_order(), state="FAILED", phase=Phase.DONE, paid_at=NOW)
    waits = waiting_for(*[order for _, order in orders_in_each_state()])
    shown = screens.ask_confirmation(TRANSLATIONS.get(locale), overview((failed,) * 20), waits, NOW)
    check_screen(ScreenCase("asked, with trouble", shown, (failed.reference,)))


def test_the_confirmation_bears_its_user_and_its_moment() -> None:
    shown = ScreenCase("asked", screens.ask_confirmation(TRANSLATIONS.get("en"), stored(), DeletionBlockers(), NOW))
    kind, action, user, asked_at = (shown.buttons[0].data or "").split(":")
    assert (kind, action, int(user)) == ("pv", "yes", 2**52)
    assert screens.parse_asked_at(asked_at) == NOW


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (an_open_order(phase=Phase.OPEN), "payable"),
        (an_open_order(phase=Phase.OPEN, expires_at=NOW), "expired"),
        (an_open_order(phase=Phase.OPEN, paid_at=NOW, step=OrderStep.PAID), "paid"),
        (an_open_order(phase=Phase.UNKNOWN), "unknown"),
        (an_open_order(phase=Phase.UNRESOLVED), "unknown"),
        (an_open_order(phase=Phase.NEEDS_CONFIRMATION), "held"),
    ],
)
def test_what_is_open_is_named_with_its_reason(order: Any, reason: str) -> None:
    shown = ScreenCase("waiting", screens.explain_waiting(TRANSLATIONS.get("en"), waiting_for(order), NOW))
    assert f"• {ORDER_LINE}\n{text(f'orders.privacy.open_{reason}')}" in shown.text


@pytest.mark.parametrize("locale", LOCALES)
def test_the_page_says_who_keeps_the_data_and_links_the_policy(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    run_by = Provider(name="A & B", terms_url="https://kirim.example/t?a=1&b", privacy_url="https://kirim.example/p")
    links = (
        f'<a href="https://kirim.example/t?a=1&amp;b">{text("users.provider.terms", locale)}</a>',
        f'<a href="https://kirim.example/p">{text("users.provider.privacy", locale)}</a>',
    )
    shown = screens.show_privacy(t, 0, run_by, is_deletion_requested=False)
    assert shown.text.split("\n\n")[-1] == " · ".join((t("users.provider.name", name="A & B"), *links))
    check_screen(ScreenCase("who runs it", shown))

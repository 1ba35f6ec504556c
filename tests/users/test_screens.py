"""The settings show the saved values and their buttons are answered. `/privacy` fits a message, without numbers."""

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.checkout.user_data import stored_drafts
from bot.core.zones import INDONESIAN, offered_zone
from bot.home.screens import show_settings
from bot.infra.i18n import LOCALES
from bot.infra.i18n.formats import list_zone_names
from bot.infra.telegram.ui.callbacks import read_button
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order, Phase
from bot.orders.user_data import OpenOrders
from bot.rates.model import Subscription
from bot.rates.user_data import stored_rate_updates
from bot.recipients.model import SavedRecipient
from bot.recipients.user_data import stored_recipients
from bot.settlement.model import OrderStep, PayoutMethod
from bot.support.model import Ticket
from bot.support.user_data import stored_tickets
from bot.users import screens
from bot.users.buttons import PhraseAction, PhraseButton, SettingsAction, SettingsButton
from bot.users.model import UNNAMED, Provider, User
from bot.users.phrase import draw_suggestion, find_suggestion_text
from bot.users.privacy import DeletionBlockers, Overview
from bot.users.screens import (
    ask_place,
    ask_zone,
    confirm_saved,
    offer_suggestion,
    offer_zones,
    show_phrase,
)
from bot.users.user_data import MAX_LISTED
from tests.architecture.every_screen import screens_of_modules
from tests.examples import some
from tests.orders.builders import ORDER_LINE, an_open_order, orders_in_each_state, what_is_stored
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, Outside, ScreenCase, check_screen
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS, says, starts, text
from tests.users.builders import a_reader


def user(**changes: object) -> User:
    return User(id=1001, created_at=NOW, **changes)  # type: ignore[arg-type]


def read(screen: Screen) -> str:
    return ScreenCase("settings", screen).text


def pressed(screen: Screen) -> list[tuple[str, str, str]]:
    """Return the label, action and argument of each button of the settings themselves."""
    buttons = [button for row in screen.keyboard for button in row if (button.data or "").startswith("s:")]
    read = [(button.label, SettingsButton.read(button.data or "")) for button in buttons]
    return [(label, each.action if each else "", each.argument if each else "") for label, each in read]


@pytest.mark.parametrize("locale", LOCALES)
def test_every_button_of_the_settings_has_somebody_to_take_it(locale: str) -> None:
    t, somebody = TRANSLATIONS.get(locale), user(notification_preferences={"sent": "silent"})
    screens = (
        show_settings(a_reader(t, somebody), somebody),
        ask_zone(a_reader(t, somebody)),
        ask_place(t),
        offer_zones(a_reader(t, somebody), "usa", ("America/New_York", "America/Chicago")),
        offer_zones(a_reader(t, somebody), "utc+2", ("Etc/GMT-2",)),
        show_phrase(t, "kopi perahu ungu"),
        confirm_saved(t, "kopi perahu ungu"),
    )
    actions = {action for screen in screens for _, action, _ in pressed(screen)}
    assert actions == set(SettingsAction)


@pytest.mark.parametrize("locale", LOCALES)
def test_the_sections_of_the_settings_are_in_their_order(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    rows = show_settings(a_reader(t, user()), user()).keyboard[1:]
    assert [[button.label for button in row] for row in rows] == [
        [text("users.settings.zone", locale), text("orders.settings.notices", locale)],
        [text("users.settings.phrase", locale), text("recipients.settings.recipients", locale)],
        [text("rates.settings.rate_news", locale), text("users.settings.privacy", locale)],
    ]


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


@pytest.mark.parametrize("locale", LOCALES)
def test_indonesias_zones_are_one_tap_away_with_the_time_there(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    three = pressed(ask_zone(a_reader(t, user())))[:3]
    assert [argument for _, _, argument in three] == list(INDONESIAN)
    for label, _, argument in three:
        assert label == t.clock(NOW, ZoneInfo(argument))
        assert offered_zone(argument, list_zone_names())


@pytest.mark.parametrize("locale", LOCALES)
def test_the_buttons_of_a_suggestion_bear_that_suggestion(locale: str) -> None:
    t, suggestion = TRANSLATIONS.get(locale), draw_suggestion(locale)
    for screen in (
        offer_suggestion(t, suggestion, has_one=True),
        offer_suggestion(t, suggestion, has_one=False),
    ):
        use = screen.keyboard[0][0]
        button = PhraseButton.read(use.data or "")
        assert button is not None
        assert (button.action, find_suggestion_text(button.code)) == (PhraseAction.USE, suggestion.text)
        assert suggestion.text in screen.text


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


@pytest.mark.parametrize(("moment", "key"), [("held", "open_held"), ("offer over", "open_offer_over")])
def test_an_order_waits_for_an_answer_only_while_its_offer_stands(moment: str, key: str) -> None:
    waits = waiting_for(dict(orders_in_each_state())[moment])
    shown = ScreenCase("waiting", screens.explain_waiting(TRANSLATIONS.get("en"), waits, NOW))
    assert says(shown.text, f"orders.privacy.{key}")


@pytest.mark.parametrize("locale", LOCALES)
def test_every_button_is_one_that_is_answered(locale: str) -> None:
    for seen in screens_of_modules(Outside(TRANSLATIONS.get(locale), LISTED_BCA), screens):
        for button in seen.buttons:
            assert read_button(button.data or "") is not None, button


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


def test_who_has_come_within_the_same_second_may_go() -> None:
    come = NOW.replace(microsecond=1)
    assert come < screens.parse_asked_at(screens.format_asked_at(come.replace(microsecond=2)))


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


@pytest.mark.parametrize("username", ["emma_w", None])
def test_a_public_name_that_is_kept_is_shown(username: str | None) -> None:
    shown = ScreenCase("seen", screens.show_summary(TRANSLATIONS.get("en"), stored(username=username), JAKARTA)).text
    assert starts(shown, "users.privacy.profile", since="17 Aug 2026", zone="Asia/Jakarta")
    assert says(shown, "users.privacy.public_name") is bool(username)
    assert says(shown, "users.privacy.public_name", name="@emma_w") is bool(username)


def test_what_is_set_up_follows_what_is_stored() -> None:
    ticket, alert = Ticket(reference="T-22222", user_id=1, created_at=NOW), Subscription(user_id=1, subscribed_at=NOW)
    parts = (stored_rate_updates(alert, 0), stored_tickets((ticket,), 1))
    shown = screens.show_summary(TRANSLATIONS.get("en"), Overview(User(id=1, created_at=NOW), parts), JAKARTA)
    daily = text("rates.subscription.none")
    assert shown.text.split("\n\n")[1:] == [
        TRANSLATIONS.get("en").plural("support.privacy.tickets", 1),
        text("rates.privacy.rate_news", daily=daily, alerts=0),
    ]


def test_without_retention_nothing_is_said_of_days() -> None:
    shown = ScreenCase("kept", screens.show_privacy(TRANSLATIONS.get("en"), 0, is_deletion_requested=False))
    kept = {"how_long": text("users.privacy.until_deleted"), "tickets": text("users.privacy.until_deleted")}
    assert shown.text == text("users.privacy.text", orders=text("users.privacy.orders_until_deleted"), **kept)


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


@pytest.mark.parametrize(
    ("run_by", "last"),
    [
        (UNNAMED, None),
        (Provider(name="Kirim"), text("users.provider.name", name="Kirim")),
        (Provider(terms_url="https://kirim.example"), text("users.provider.terms")),
        (Provider(privacy_url="https://kirim.example"), text("users.provider.privacy")),
    ],
)
def test_what_is_not_set_of_who_runs_it_leaves_no_gap(run_by: Provider, last: str | None) -> None:
    before = ScreenCase("kept", screens.show_privacy(TRANSLATIONS.get("en"), 0, is_deletion_requested=False)).text
    shown = ScreenCase(
        "kept", screens.show_privacy(TRANSLATIONS.get("en"), 0, run_by, is_deletion_requested=False)
    ).text
    assert shown == (before if last is None else f"{before}\n\n{last}")

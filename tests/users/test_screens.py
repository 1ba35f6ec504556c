"""The settings show the saved values and their buttons are answered. `/privacy` fits a message, without numbers."""

from typing import Any

import pytest

from bot.infra.i18n import LOCALES
from bot.orders.order import Order, Phase
from bot.orders.user_data import OpenOrders
from bot.settlement.model import OrderStep, PayoutMethod
from bot.users import screens
from bot.users.model import Provider
from bot.users.privacy import DeletionBlockers
from tests.architecture.every_screen import screens_of_modules
from tests.examples import some
from tests.orders.builders import ORDER_LINE, an_open_order
from tests.screens import HOSTILE_NAMES, NOW, Outside, ScreenCase, check_screen
from tests.texts import TRANSLATIONS, text


def waiting_for(*orders: Order) -> DeletionBlockers:
    return DeletionBlockers((OpenOrders(orders),))


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", some([*HOSTILE_NAMES, "🙈" * 4096, "BCA"]))
def test_no_screen_shows_a_number_in_full(locale: str, name: str) -> None:
    outside = Outside(TRANSLATIONS.get(locale), PayoutMethod("x", name, "bank", None), name)
    for seen in screens_of_modules(outside, screens):
        assert "34567890" not in seen.text, seen.name


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

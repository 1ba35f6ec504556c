"""If an order was paid and no rupiah were sent, users read what we know, what happens next, and whom to ask."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.checkout.screens import draft as draft_screens
from bot.infra.telegram.ui.formatting import format_time
from bot.infra.telegram.ui.reader import Reader
from bot.orders.notification_kinds import OrderNotification
from bot.orders.screens import order_messages, status_message
from bot.settlement.steps import OrderStep
from tests.checkout.builders import a_draft_at_review
from tests.orders.builders import ORDER_LINE, orders_in_each_state
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.texts import TRANSLATIONS, says, starts, text

MOMENTS = dict(orders_in_each_state())
KEYS = {
    OrderNotification.STUCK: "orders.notification.stuck",
    OrderNotification.FAILED: "orders.notification.failed_paid",
}
TROUBLE = (
    (OrderNotification.STUCK, "stuck"),
    (OrderNotification.FAILED, "failed paid"),
    (OrderNotification.FAILED, "failed paid between two looks"),
)
EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")


def message_screen(
    notice: OrderNotification, moment: str, locale: str = "en", *, offered: bool = True, staff: bool = True
) -> ScreenCase:
    t, order = TRANSLATIONS.get(locale), MOMENTS[moment]
    reader = Reader(t, JAKARTA, NOW)
    return ScreenCase(moment, order_messages.screen(notice, reader, order, help_offered=offered, staff_notified=staff))


@pytest.mark.parametrize(("notice", "moment"), TROUBLE)
@pytest.mark.parametrize(
    ("locale", "paid", "at"), [("en", "29,412 sats", "10:05 WIB"), ("id", "29.412 sats", "10.05 WIB")]
)
def test_it_says_that_the_money_came_in_how_much_and_when(
    notice: OrderNotification, moment: str, locale: str, paid: str, at: str
) -> None:
    assert starts(message_screen(notice, moment, locale).text, KEYS[notice], locale, paid=paid, at=at)


def test_a_payment_of_another_day_says_which() -> None:
    order = replace(MOMENTS["stuck"], paid_at=NOW - timedelta(days=2))
    reader = Reader(EN, JAKARTA, NOW)
    seen = ScreenCase(
        "", order_messages.screen(OrderNotification.STUCK, reader, order, help_offered=True, staff_notified=True)
    )
    assert says(seen.text, "orders.notification.stuck", at="15 Aug 2026, 10:05 WIB")


@pytest.mark.parametrize(("notice", "moment"), TROUBLE)
def test_it_has_one_button_and_that_leads_to_a_user(notice: OrderNotification, moment: str) -> None:
    assert [button.data for button in message_screen(notice, moment).buttons] == ["o:ABC2345:help"]
    assert [button.data for button in message_screen(notice, moment, staff=False).buttons] == ["o:ABC2345:help"]


@pytest.mark.parametrize(("notice", "moment"), TROUBLE)
def test_what_comes_next_is_only_what_is_true(notice: OrderNotification, moment: str) -> None:
    happened = text(KEYS[notice], line=ORDER_LINE, paid="29,412 sats", at="10:05 WIB")
    assert message_screen(notice, moment).text == f"{happened}\n\n{text('orders.notification.staff_know')}"
    assert (
        message_screen(notice, moment, staff=False).text == f"{happened}\n\n{text('orders.notification.ask_a_person')}"
    )
    alone = message_screen(notice, moment, offered=False, staff=False)
    assert alone.text == f"{happened}\n\n{text('orders.notification.keep_reference')}"
    assert alone.buttons == []


def test_the_card_says_it_too_and_no_longer_once_the_order_has_ended() -> None:
    stuck = MOMENTS["stuck"]
    assert says(
        ScreenCase("", status_message.screen(Reader(EN, JAKARTA, NOW), stuck, help_offered=True)).text,
        "orders.card.stuck",
    )
    done = replace(stuck, state="COMPLETED", step=OrderStep.SENT, ended_at=NOW)
    assert not says(
        ScreenCase("", status_message.screen(Reader(EN, JAKARTA, NOW), done, help_offered=True)).text,
        "orders.card.stuck",
    )


def test_a_limit_keeps_the_draft_with_its_ways_on() -> None:
    draft = a_draft_at_review()
    seen = ScreenCase("", draft_screens.limit_reached(EN, draft, EN("orders.limits.open", count=5, again="14:05 WIB")))
    assert seen.text.endswith(
        f"{text('orders.limits.open', count=5, again='14:05 WIB')} {text('checkout.limits.kept')}"
    )
    assert [str(button.data).split(":")[3] for button in seen.buttons] == ["show", "back", "cancel"]


def test_a_time_to_come_is_rounded_up_so_that_it_holds_what_it_promises() -> None:
    assert format_time(EN, NOW, NOW, JAKARTA) == "10:05 WIB"
    assert format_time(EN, NOW + timedelta(microseconds=1), NOW, JAKARTA) == "10:06 WIB"
    late = NOW.replace(hour=16, minute=59, second=30)
    assert format_time(ID, late, NOW, JAKARTA) == "18 Agu 2026 00.00 WIB"

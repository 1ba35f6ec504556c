"""If an order was paid and no rupiah were sent, users read what we know, what happens next, and whom to ask."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.checkout import screens
from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.notifications import OrderNotification
from bot.orders.order import Phase
from bot.orders.screens import order_messages
from bot.orders.screens.order_lists import UNPAID_SHOWN, show_unpaid
from bot.staff.outcomes import Outcome
from tests.checkout.builders import a_draft_at_review
from tests.orders.builders import ORDER_LINE, a_deposit_order, orders_in_each_state
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.texts import TRANSLATIONS, says, starts, text

MOMENTS = dict(orders_in_each_state())
KEYS = {
    OrderNotification.OVERDUE: "orders.notification.overdue",
    OrderNotification.FAILED: "orders.notification.failed_paid",
}
TROUBLE = (
    (OrderNotification.OVERDUE, "overdue"),
    (OrderNotification.FAILED, "failed paid"),
    (OrderNotification.FAILED, "failed paid between two looks"),
)
EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
READER = Reader(EN, JAKARTA, NOW)


def message_screen(
    notice: OrderNotification, moment: str, locale: str = "en", *, offered: bool = True, staff: bool = True
) -> ScreenCase:
    t, order = TRANSLATIONS.get(locale), MOMENTS[moment]
    reader = Reader(t, JAKARTA, NOW)
    return ScreenCase(
        moment, order_messages.show_notification(notice, reader, order, help_offered=offered, staff_notified=staff)
    )


@pytest.mark.parametrize(("notice", "moment"), TROUBLE)
@pytest.mark.parametrize(
    ("locale", "paid", "at"), [("en", "29,412 sats", "10:05 WIB"), ("id", "29.412 sats", "10.05 WIB")]
)
def test_it_says_that_the_money_came_in_how_much_and_when(
    notice: OrderNotification, moment: str, locale: str, paid: str, at: str
) -> None:
    assert starts(message_screen(notice, moment, locale).text, KEYS[notice], locale, paid=paid, at=at)


@pytest.mark.parametrize(("notice", "moment"), TROUBLE)
def test_what_comes_next_is_only_what_is_true(notice: OrderNotification, moment: str) -> None:
    happened = text(KEYS[notice], line=ORDER_LINE, paid="29,412 sats", at="10:05 WIB")
    more = f"\n\n{text('orders.asked.nothing_needed')}" if notice is OrderNotification.FAILED else ""
    assert message_screen(notice, moment).text == f"{happened}\n\n{text('orders.notification.staff_know')}{more}"
    reached_elsewhere = message_screen(notice, moment, staff=False)
    assert reached_elsewhere.text == f"{happened}\n\n{text('orders.notification.ask_a_person')}{more}"
    alone = message_screen(notice, moment, offered=False, staff=False)
    assert alone.text == f"{happened}\n\n{text('orders.notification.keep_reference')}{more}"
    assert alone.buttons == []


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    ("reached_by", "follows"),
    [
        ("support", "orders.asked.support_asks"),
        ("contact", "orders.notification.ask_a_person"),
        ("alone", "orders.notification.keep_reference"),
    ],
)
def test_who_asks_for_the_money_of_a_failed_order_reads_what_is_known_what_follows_and_that_nothing_is_needed(
    reached_by: str, follows: str, locale: str
) -> None:
    reader = Reader(TRANSLATIONS.get(locale), JAKARTA, NOW)
    for order in (MOMENTS["failed paid"], MOMENTS["failed paid between two looks"]):
        answer = order_messages.explain_next_step(reader, order, reached_by)
        known, then, nothing = (
            text(key, locale) for key in ("orders.asked.failed_paid", follows, "orders.asked.nothing_needed")
        )
        assert ScreenCase("", Screen(answer)).text == f"{known} {then}\n\n{nothing}"
        ended = ScreenCase(
            "", Screen(order_messages.explain_next_step(reader, replace(order, outcome=Outcome.REFUNDED), reached_by))
        ).text
        assert not says(ended, "orders.asked.failed_paid", locale), "it is known"
        assert not says(ended, "staff.alarm.outcome_refunded", locale), "a person tells it"


def test_a_deposit_that_failed_is_not_said_to_have_arrived() -> None:
    order = replace(a_deposit_order("cbbtc"), state="FAILED", phase=Phase.DONE, ended_at=NOW)
    answer = order_messages.explain_next_step(READER, order, "support")
    assert says(ScreenCase("", Screen(answer)).text, "orders.asked.failed_unknown")


def test_too_many_unpaid_orders_are_listed_and_each_that_can_be_paid_can_be_paid_or_dropped() -> None:
    payable, dropped = MOMENTS["IDLE"], replace(MOMENTS["IDLE"], expiry_notified=True)
    unpaid = (payable, dropped, MOMENTS["held"], MOMENTS["unknown"])
    seen = ScreenCase(
        "", screens.limit_reached(READER, a_draft_at_review(), EN("orders.limits.open", count=4, again=""), unpaid)
    )
    until = READER.format_time(payable.offer_ends_at)
    for status, at in (("waiting", until), ("expired", until), ("needs_confirmation", until), ("checking", None)):
        end = READER.format_time(MOMENTS["unknown"].offer_ends_at) if at is None else at
        assert f"{ORDER_LINE}\n{text(f'orders.status.{status}')} · until {end}" in seen.text
    assert text("orders.limits.followed") in seen.text
    assert [button.data for button in seen.buttons[:2]] == ["o:ABC2345:status", "o:ABC2345:unpaid"]
    assert [button.label for button in seen.buttons[:2]] == ["Pay Rp500,000", "Drop Rp500,000"]
    assert len(seen.buttons) == 5


def test_a_list_of_unpaid_orders_fits_a_message_whatever_the_limit_is() -> None:
    seen = ScreenCase("", show_unpaid(READER, [MOMENTS["IDLE"]] * 1000))
    assert len(seen.text) < 4096
    assert len(seen.buttons) == 2 * UNPAID_SHOWN


@pytest.mark.parametrize("locale", LOCALES)
def test_a_dropped_order_says_until_when_it_can_be_paid_and_when_its_place_is_free(locale: str) -> None:
    reader = Reader(TRANSLATIONS.get(locale), JAKARTA, NOW)
    deposit = replace(a_deposit_order("cbbtc"), expiry_notified=True)
    said = ScreenCase("", Screen(order_messages.explain_dropped(reader, deposit))).text
    # An address without an expiry can be paid for a week, and counts for a day.
    times = [reader.format_time(deposit.created_at + timedelta(days=days)) for days in (7, 1)]
    assert said == text(
        "orders.limits.dropped",
        locale,
        line=ORDER_LINE.replace(",", "." if locale == "id" else ","),
        until=times[0],
        free=times[1],
    )

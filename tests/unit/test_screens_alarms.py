"""What operators read of alarms, and what they can do about them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.actions.alarms import alarm_in, told_of
from bot.actions.ports import Alarm, AlarmKind
from bot.chat import data
from bot.chat.screens import alarms, operator_status
from tests.unit.alarm_screens import a_glance, every_alarm
from tests.unit.every_screen import JAKARTA, NOW, TRANSLATIONS, Seen, an_order

EN = TRANSLATIONS.get("en")
ORDER = an_order(state="FAILED", paid_at=NOW)
ORDERS = {ORDER.reference: ORDER}
FAILED = Alarm(kind=AlarmKind.ORDER_FAILED, subject="ABC2345", raised_at=NOW - timedelta(hours=2))
SHRUNK = Alarm(kind=AlarmKind.METHODS_SHRUNK, facts={"before": 1_500, "now": 12}, raised_at=NOW)


def test_all_is_well_in_one_line_each() -> None:
    seen = Seen("", operator_status.screen(EN, a_glance(), {}, NOW, JAKARTA))
    head, table, lately = seen.text.split("\n\n")
    assert head == "At a glance, 10:05 WIB"
    assert table.split("\n") == [
        "✅ API key: taken",
        "✅ Service: answers",
        "✅ Banks and e-wallets: 1,234",
        "✅ Paid orders that take too long: 0",
        "✅ Paid orders that failed: 0",
        "✅ Invoices that did not match: 0",
        "✅ News waiting to be told: 3",
        "✅ Looking after orders: at work",
        "✅ Support's group: can be written to",
    ]
    assert lately == "Alarms in the last 24 hours: 0"
    assert [button.label for button in seen.buttons] == ["Refresh", "Your own orders", "Send rupiah"]


def test_what_nobody_knows_yet_is_not_called_well() -> None:
    text = Seen("", operator_status.screen(EN, a_glance(known=False), {}, NOW, JAKARTA)).text
    assert text.count("❔") == text.count("not known yet") == 3


def test_what_is_wrong_stands_in_its_line_and_in_full_with_a_button_where_an_operators_word_counts() -> None:
    seen = Seen("", operator_status.screen(EN, a_glance(FAILED, SHRUNK), ORDERS, NOW, JAKARTA))
    assert "🚨 Paid orders that failed: 1\n" in seen.text
    assert "An order failed after it was paid, at 08:05 WIB.\nRp500,000 → BCA ••••7890 · ABC2345" in seen.text
    assert "has shrunk from 1,500 to 12" in seen.text
    assert [button.label for button in seen.buttons][:2] == ["Seen to: ABC2345", "This list is right"]


def test_an_empty_list_is_never_right() -> None:
    empty = replace(SHRUNK, facts={"before": 12, "now": 0})
    seen = Seen("", alarms.raised(EN, empty, {}, NOW, JAKARTA))
    assert "is empty" in seen.text
    assert seen.buttons == []


@pytest.mark.parametrize("kind", AlarmKind)
def test_only_what_does_not_end_by_itself_has_a_button(kind: AlarmKind) -> None:
    ends_by_hand = {
        AlarmKind.ORDER_STUCK,
        AlarmKind.ORDER_FAILED,
        AlarmKind.INVOICE_MISMATCH,
        AlarmKind.METHODS_SHRUNK,
        AlarmKind.ROOM_LOST,
    }
    alarm = next(each for each in every_alarm(ORDER, NOW, "no") if each.kind is kind)
    assert bool(alarms.keyboard(EN, alarm)) is (kind in ends_by_hand)


def test_its_end_says_how_long_it_lasted_and_which_order_it_was() -> None:
    over = alarms.over(EN, replace(FAILED, cleared_at=NOW), ORDERS, by_hand=False)
    assert Seen("", over).text.startswith("✅ Over after 2 hours: the order that failed")
    by_hand = alarms.over(EN, replace(FAILED, cleared_at=NOW), ORDERS, by_hand=True)
    assert Seen("", by_hand).text.endswith("Rp500,000 → BCA ••••7890 · ABC2345")


def test_many_alarms_fit_into_one_message_that_says_how_many_more_there_are() -> None:
    many = [replace(FAILED, subject=f"ABC23{number}") for number in range(10, 60)]
    seen = Seen("", alarms.reminder(EN, many, {}, NOW, JAKARTA))
    assert "… and 42 more." in seen.text
    assert len(seen.buttons) == 9


def test_an_alarm_is_read_from_the_news_of_it_as_it_was() -> None:
    for alarm in every_alarm(ORDER, NOW, "no"):
        assert alarm_in(told_of(alarm)) == alarm


def test_buttons_say_what_they_are_about_and_nothing_else_passes_for_them() -> None:
    for alarm in every_alarm(ORDER, NOW, "no"):
        written = data.for_alarm("done", alarm.kind, alarm.subject)
        assert data.read_alarm_press(written) == ("done", alarm.kind, alarm.subject)
    assert data.read_alarm_press(data.for_alarm("status")) == ("status", "", "")
    for other in ("al:", "al:open", "al:done:order_failed:abc;--", "al:done:" + "x" * 40, "o:ABC2345:card"):
        assert data.read_alarm_press(other) == ("", "", "")

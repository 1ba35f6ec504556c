"""What operators read about alarms, and what they can do about them."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.outbox.model import Backlog
from bot.infra.outbox.repository import unpack
from bot.infra.telegram.ui.reader import Reader
from bot.operations import screens as operator_screens
from bot.orders.alarms import OrderInAlarm
from bot.staff import screens
from bot.staff.buttons import AlarmAction, AlarmButton
from bot.staff.model import Alarm, AlarmKind
from bot.staff.notifications import AlarmNotification, alarm_notifications
from tests.infra.builders import as_stored
from tests.operations.samples import FIGURES, NO_FIGURES, a_summary
from tests.orders.builders import ORDER_LINE, an_open_order
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.staff.samples import RECONCILED, every_alarm
from tests.texts import TRANSLATIONS, label, like, says, text

EN = TRANSLATIONS.get("en")
READER = Reader(EN, JAKARTA, NOW)
KEY_REFUSED = Alarm(kind=AlarmKind.KEY_REFUSED, raised_at=NOW)
ORDER = an_open_order(state="FAILED", paid_at=NOW)
ORDERS = {ORDER.reference: OrderInAlarm(ORDER)}
FAILED = Alarm(kind=AlarmKind.ORDER_FAILED, subject="ABC2345", raised_at=NOW - timedelta(hours=2))
SHRUNK = Alarm(kind=AlarmKind.METHODS_SHRUNK, facts={"before": 1_500, "now": 12}, raised_at=NOW)


def line(mark: str, kind: AlarmKind, state: str) -> str:
    return f"{mark} {text(f'staff.alarm.{kind}_name')}: {state}"


def test_all_is_well_in_one_line_each() -> None:
    seen = ScreenCase("", operator_screens.show_status(READER, a_summary(), FIGURES, {}))
    head, table, figures = seen.text.split("\n\n")
    assert head == text("operations.status.fine", time="10:05 WIB")
    assert table.split("\n") == [
        text("operations.status.checks"),
        line("✅", AlarmKind.KEY_REFUSED, text("staff.alarm.key_refused_fine")),
        line("✅", AlarmKind.SERVICE_DOWN, text("staff.alarm.service_down_fine")),
        line("✅", AlarmKind.METHODS_SHRUNK, "1,234"),
        line("✅", AlarmKind.ORDER_STUCK, "0"),
        line("✅", AlarmKind.ORDER_FAILED, "0"),
        line("✅", AlarmKind.INVOICE_MISMATCH, "0"),
        line("✅", AlarmKind.OUTBOX_BACKLOG, "3"),
        line("✅", AlarmKind.POLLER_SILENT, text("staff.alarm.poller_silent_fine")),
        line("✅", AlarmKind.MESSAGE_REFUSED, "0"),
        line("✅", AlarmKind.PICTURE_REFUSED, "0"),
        line("✅", AlarmKind.INVOICE_NOT_REMOVED, "0"),
        line("✅", AlarmKind.ROW_UNREADABLE, text("staff.alarm.row_unreadable_fine")),
        line("✅", AlarmKind.RIGHT_MISSING, text("staff.alarm.right_missing_fine")),
        line("✅", AlarmKind.SECOND_POLLER, text("staff.alarm.second_poller_fine")),
        line("✅", AlarmKind.DESTINATION_SLOW, "0"),
        line("✅", AlarmKind.DESTINATION_FAILING, "0"),
        line("✅", AlarmKind.DESTINATION_UNCLEAR, "0"),
        *(line("✅", kind, "0") for kind in RECONCILED),
        line("✅", AlarmKind.STAFF_CHAT_LOST, text("staff.alarm.staff_chat_lost_fine")),
        text("operations.status.reported", mark="✅", count=0),
    ]
    assert figures.split("\n") == [
        text("operations.status.figures"),
        text("operations.status.oldest_waiting", length="75 seconds"),
        text("operations.status.payment_noticed", length="3.1 seconds"),
        text("operations.status.answers", median="0.23 seconds", limit="1.5 seconds"),
        text("operations.status.slow_downs", count=1_234, limit=12),
        text("operations.status.service_budget", count="9.8"),
        text("operations.status.requests", open=1_234, telegram=56, browsers=7),
        text("operations.status.shared_told"),
        text("staff.alarm.lately", count=0),
    ]
    assert [button.label for button in seen.buttons] == [
        label("orders.button.refresh"),
        label("staff.alarm.own_orders"),
        label("users.button.send"),
    ]


def test_what_was_not_measured_yet_is_said() -> None:
    summary = replace(a_summary(), backlog=Backlog())
    shown = operator_screens.show_status(READER, summary, NO_FIGURES, {}).text
    for key in ("none_waiting", "no_payment_noticed", "no_answers"):
        assert text(f"operations.status.{key}") in shown.split("\n")
    assert text("operations.status.service_budget", count="10") in shown


def test_an_unknown_state_is_not_shown_as_fine() -> None:
    shown = ScreenCase("", operator_screens.show_status(READER, a_summary(known=False), FIGURES, {})).text.split("\n")
    unknown = (AlarmKind.KEY_REFUSED, AlarmKind.SERVICE_DOWN, AlarmKind.METHODS_SHRUNK)
    assert shown[:2] == text("operations.status.unchecked", time="10:05 WIB").split("\n")
    assert [each for each in shown[2:] if "❔" in each] == [
        line("❔", kind, text("staff.alarm.unknown")) for kind in unknown
    ]


def test_an_open_alarm_is_in_its_line_and_in_full_with_a_button_if_it_can_be_resolved() -> None:
    seen = ScreenCase("", operator_screens.show_status(READER, a_summary(FAILED, SHRUNK), FIGURES, ORDERS))
    assert line("🚨", AlarmKind.ORDER_FAILED, "1") in seen.text.split("\n")
    assert f"✅ {text('operations.status.others_fine', count=len(AlarmKind) - 1)}" in seen.text.split("\n")
    assert "✅" not in seen.text.replace("✅", "", 1), "the others share one line"
    assert says(seen.text, "staff.alarm.order_failed", since="08:05 WIB", line=ORDER_LINE)
    assert says(seen.text, "staff.alarm.methods_shrunk", before=1_500, now=12, since="10:05 WIB")
    assert [button.label for button in seen.buttons][:3] == [
        label("staff.alarm.take_all", count=2),
        "ABC2345",
        label("staff.alarm.seen_to_order", reference="ABC2345"),
    ]


def test_the_status_begins_with_what_is_wrong_and_what_to_do_and_figures_come_last() -> None:
    again = replace(FAILED, subject="DEF2345")
    summary = a_summary(FAILED, SHRUNK, again)
    parts = ScreenCase("", operator_screens.show_status(READER, summary, FIGURES, ORDERS)).text.split("\n\n")
    assert parts[0] == text("operations.status.wrong", count=3, time="10:05 WIB")
    todo = text("staff.alarm.todo.order_failed", id=f"{ORDER.service_id}, DEF2345")
    assert parts[1].startswith(f"🚨 {todo}\n"), "two that are alike have one piece of advice, before both"
    assert parts[1].count(text("staff.alarm.order_failed", since="08:05 WIB", line="").split("\n")[0]) == 2
    assert parts[2].startswith(f"🚨 {text('staff.alarm.todo.methods_shrunk')}\n")
    assert parts[-1].startswith(text("operations.status.figures"))


@pytest.mark.parametrize("locale", LOCALES)
def test_every_alarm_begins_with_the_action(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    for alarm in every_alarm(ORDER, NOW, "1.500"):
        shown = screens.show_raised(Reader(t, JAKARTA, NOW), alarm, ORDERS).text
        first, _, rest = shown.partition("\n\n")
        assert first.startswith("🚨 <b>")
        assert screens.format_alarm(Reader(t, JAKARTA, NOW), alarm, ORDERS) == rest


def test_requests_that_were_reported_are_a_check_that_begins_the_status_if_there_is_no_alarm() -> None:
    reported = replace(a_summary(), reported=2)
    head, table, _ = ScreenCase("", operator_screens.show_status(READER, reported, FIGURES, {})).text.split("\n\n")
    assert head == text("operations.status.reports", count=2, time="10:05 WIB")
    assert table.split("\n")[1] == text("operations.status.reported", mark="🚨", count=2)
    failed = replace(a_summary(FAILED), reported=2)
    shown = ScreenCase("", operator_screens.show_status(READER, failed, FIGURES, ORDERS)).text
    assert shown.startswith(text("operations.status.wrong", count=1, time="10:05 WIB"))
    assert text("operations.status.reported", mark="🚨", count=2) in shown.split("\n")


def test_an_empty_list_is_never_right() -> None:
    empty = replace(SHRUNK, facts={"before": 12, "now": 0})
    seen = ScreenCase("", screens.show_raised(READER, empty, {}))
    assert says(seen.text, "staff.alarm.methods_empty", before=12, since="10:05 WIB")
    assert [button.label for button in seen.buttons] == [label("staff.alarm.take")]


def test_whoever_is_on_an_alarm_is_named_since_when_and_nobody_else_is_offered_it() -> None:
    taken, reader = replace(FAILED, taken_by=2001, taken_at=NOW), replace(READER, names={2001: "Oscar"})
    who = text("staff.alarm.taken", who="Oscar", since="10:05 WIB")
    assert screens.format_toast(reader, taken) == text("staff.alarm.taken_toast", who="Oscar", since="10:05 WIB")
    for shown in (
        screens.show_raised(reader, taken, ORDERS),
        screens.show_reminder(reader, [taken], ORDERS),
        screens.show_taken(reader, [taken], ORDERS),
        operator_screens.show_status(reader, a_summary(taken), FIGURES, ORDERS),
    ):
        seen = ScreenCase("", shown)
        assert seen.text.count(who) == 1
        assert not any("take" in (button.data or "") for button in seen.buttons)


@pytest.mark.parametrize("kind", AlarmKind)
def test_only_alarms_that_do_not_end_automatically_have_a_button_that_ends_them(kind: AlarmKind) -> None:
    ends_by_hand = {
        AlarmKind.ORDER_STUCK,
        AlarmKind.ORDER_FAILED,
        AlarmKind.INVOICE_MISMATCH,
        AlarmKind.MESSAGE_REFUSED,
        AlarmKind.PICTURE_REFUSED,
        AlarmKind.INVOICE_NOT_REMOVED,
        *RECONCILED,
        AlarmKind.METHODS_SHRUNK,
        AlarmKind.STAFF_CHAT_LOST,
    }
    alarm = next(each for each in every_alarm(ORDER, NOW, "no") if each.kind is kind)
    taken = replace(alarm, taken_by=2001, taken_at=NOW)
    assert bool(screens.build_keyboard(EN, taken)) is (kind in ends_by_hand)
    assert next(row[0].label for row in screens.build_keyboard(EN, alarm)) == label("staff.alarm.take")


def advice(alarm: Alarm) -> str:
    named = "orders_refused" if alarm.facts.get("orders") else str(alarm.kind)
    empty = alarm.kind is AlarmKind.METHODS_SHRUNK and alarm.facts["now"] == 0
    return like(f"staff.alarm.todo.{'methods_empty' if empty else named}")


@pytest.mark.parametrize("alarm", every_alarm(ORDER, NOW, "no"), ids=lambda alarm: alarm.kind)
def test_every_alarm_says_what_to_do(alarm: Alarm) -> None:
    for shown in (
        screens.show_raised(READER, alarm, ORDERS),
        screens.show_reminder(READER, [FAILED, alarm], ORDERS),
        operator_screens.show_status(READER, a_summary(alarm), FIGURES, ORDERS),
    ):
        assert re.search(advice(alarm), ScreenCase("", shown).text)


@pytest.mark.parametrize("alarm", every_alarm(ORDER, NOW, "no"), ids=lambda alarm: alarm.kind)
def test_an_alarm_says_where_the_service_is_reached_if_it_has_to_help(alarm: Alarm) -> None:
    where = text("staff.alarm.service_contact", contact="+62 21 1234 5678")
    is_asked = "settlement service" in advice(alarm).replace("\\", "") or alarm.kind is AlarmKind.KEY_REFUSED
    for shown in (
        screens.show_raised(READER, alarm, ORDERS, service_contact="+62 21 1234 5678"),
        screens.show_reminder(READER, [alarm, alarm], ORDERS, service_contact="+62 21 1234 5678"),
        operator_screens.show_status(READER, a_summary(alarm), FIGURES, ORDERS, service_contact="+62 21 1234 5678"),
    ):
        assert ScreenCase("", shown).text.count(where) == is_asked


@pytest.mark.parametrize("locale", LOCALES)
def test_where_the_service_is_reached_is_left_out_if_nobody_set_it(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    for alarm in every_alarm(ORDER, NOW, "no"):
        shown = ScreenCase("", screens.show_raised(Reader(t, JAKARTA, NOW), alarm, ORDERS)).text
        assert not says(shown, "staff.alarm.service_contact", locale)


@pytest.mark.parametrize(("orders", "named"), [(ORDERS, "cm1"), ({}, "ABC2345")])
def test_the_settlement_service_is_asked_by_the_id_it_knows(orders: dict[str, OrderInAlarm], named: str) -> None:
    for kind in (AlarmKind.ORDER_STUCK, AlarmKind.ORDER_FAILED, AlarmKind.INVOICE_MISMATCH):
        said = ScreenCase("", screens.show_raised(READER, replace(FAILED, kind=kind), orders)).text
        assert says(said, f"staff.alarm.todo.{kind}", id=named)


def test_what_to_do_about_several_orders_is_said_once_for_all_of_them() -> None:
    others = [replace(FAILED, subject=f"ABC234{number}") for number in (6, 7)]
    stuck = replace(FAILED, kind=AlarmKind.ORDER_STUCK)
    said = ScreenCase("", screens.show_reminder(READER, [FAILED, stuck, *others], ORDERS)).text
    failed = re.findall(like("staff.alarm.todo.order_failed"), said)
    assert failed == [text("staff.alarm.todo.order_failed", id="cm1, ABC2346, ABC2347")]
    assert re.findall(like("staff.alarm.todo.order_stuck"), said) == [text("staff.alarm.todo.order_stuck", id="cm1")]


def test_its_end_says_how_long_it_lasted_and_which_order_it_was() -> None:
    over = screens.show_cleared(Reader(EN, JAKARTA, NOW), replace(FAILED, cleared_at=NOW), ORDERS, by=0)
    failed = text("staff.alarm.order_failed_over", line=ORDER_LINE)
    assert ScreenCase("", over).text == text("staff.alarm.over", duration="2 hours", line=failed)
    reader = Reader(EN, JAKARTA, NOW, {2001: "Oscar"})
    by_oscar = screens.show_cleared(reader, replace(FAILED, cleared_at=NOW), ORDERS, by=2001)
    assert ScreenCase("", by_oscar).text == text("staff.alarm.settled_by", who="Oscar", line=failed)


def test_many_alarms_fit_into_one_message_that_says_how_many_more_there_are() -> None:
    many = [replace(FAILED, subject=f"ABC23{number}") for number in range(10, 60)]
    seen = ScreenCase("", screens.show_reminder(READER, many, {}))
    assert seen.text.endswith(text("staff.alarm.more", count=43))
    assert len(seen.buttons) == 16


def test_an_alarm_is_read_from_its_notification_as_it_was() -> None:
    for alarm in every_alarm(ORDER, NOW, "no"):
        (notification,) = alarm_notifications([1], AlarmNotification.RAISED, alarm, NOW)
        assert unpack(AlarmNotification.RAISED, as_stored(notification)).payload.alarm == alarm


def test_buttons_say_what_they_are_about_and_nothing_else_passes_for_them() -> None:
    for alarm in every_alarm(ORDER, NOW, "no"):
        about = AlarmButton(AlarmAction.RESOLVE_IN_ALARM, alarm.kind, alarm.subject)
        assert AlarmButton.read(about.pack()) == about
        assert AlarmButton.read(f"al:done:{alarm.kind}:{alarm.subject}") == about
    assert AlarmButton.read("al:status") == AlarmButton(AlarmAction.STATUS)
    for other in ("al:", "al:open", "al:done:order_failed:abc;--", "al:done:" + "x" * 40, "o:ABC2345:status"):
        assert AlarmButton.read(other) is None

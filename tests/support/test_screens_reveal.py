"""The screens of a reveal before, during and after its minute, and its entry in the audit log."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.home.feature import AUDIT_TERMS
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.reader import Reader
from bot.orders.order import payer_on_page
from bot.staff.audit import AuditPage
from bot.staff.model import AuditAction
from bot.staff.screens import show_page
from bot.support.screens import reveals as staff_reveal
from tests.orders.builders import an_open_order
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.staff.samples import an_audit_entry
from tests.support.samples import REVEAL
from tests.texts import TRANSLATIONS, label, says, text

EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
ORDER = an_open_order()


@pytest.mark.parametrize("t", [EN, ID])
def test_nothing_but_the_minute_itself_shows_a_number_or_a_name(t: object) -> None:
    screens = [
        staff_reveal.ask_reason(t, ORDER),  # type: ignore[arg-type]
        staff_reveal.ask_typed_reason(t, ORDER),  # type: ignore[arg-type]
        staff_reveal.show_placeholder(t, ORDER),  # type: ignore[arg-type]
        staff_reveal.show_masked(t, REVEAL, ORDER),  # type: ignore[arg-type]
    ]
    assert ORDER.holder
    for screen in screens:
        whole = f"{screen.text}{screen.keyboard}"
        assert ORDER.number not in whole
        assert ORDER.holder not in whole
        assert ORDER.reference in whole


def test_the_minute_shows_the_whole_recipient_and_when_it_ends() -> None:
    seen = ScreenCase("", staff_reveal.show_recipient(EN, REVEAL, ORDER, None))
    assert ORDER.number in seen.text
    assert str(ORDER.holder) in seen.text
    assert says(seen.text, "support.reveal.shown_named", number=ORDER.number, holder=ORDER.holder, until="10:06 WIB")
    assert [button.label for button in seen.buttons] == [label("support.reveal.hide")]


@pytest.mark.parametrize("t", [EN, ID])
def test_how_a_payer_without_a_chat_can_be_reached_is_shown_for_the_minute_alone(t: Translator) -> None:
    order = replace(ORDER, payer=payer_on_page("a secret"), contact="<b>budi@example.com")
    shown = staff_reveal.show_recipient(t, REVEAL, order, None)
    assert "&lt;b&gt;budi@example.com" in shown.text
    for hidden in (staff_reveal.show_masked(t, REVEAL, order), staff_reveal.show_placeholder(t, order)):
        assert "budi" not in hidden.text


def test_what_was_forgotten_cant_be_asked_for_again() -> None:
    assert [button.label for button in ScreenCase("", staff_reveal.show_masked(EN, REVEAL, ORDER)).buttons] == [
        label("support.reveal.again")
    ]
    for order in (replace(ORDER, number="", holder=None), None):
        assert staff_reveal.show_masked(EN, REVEAL, order).keyboard == ()


@pytest.mark.parametrize(
    ("changes", "subject", "user", "why"),
    [
        ({}, text("staff.audit.of_order", name="R2345AB"), "1001", text("staff.audit.word_trace")),
        ({"detail": "bank <b>asks</b>"}, text("staff.audit.of_order", name="R2345AB"), "1001", "bank <b>asks</b>"),
        (
            {"action": AuditAction.LOOKED, "subject": "person:", "detail": ""},
            text("staff.audit.of_person", name="1001"),
            "",
            "",
        ),
        (
            {"action": AuditAction.LOOKED, "subject": "person:", "detail": "", "user_id": 0},
            text("staff.audit.of_person", name="…"),
            "",
            "",
        ),
        (
            {"action": AuditAction.CHANGED, "subject": "alarm:order_failed:R2345AB", "detail": "settled"},
            text("staff.audit.of_alarm", name=f"{text('staff.alarm.order_failed_name')} R2345AB"),
            "1001",
            text("staff.audit.word_settled"),
        ),
        (
            {"action": AuditAction.BROADCAST, "subject": "broadcast:0123456789", "detail": "running", "user_id": 0},
            text("staff.audit.of_broadcast", name="0123456789"),
            "",
            text("staff.audit.word_running"),
        ),
        (
            {"action": AuditAction.EXPORTED, "subject": "trail:", "detail": "", "user_id": 0},
            text("staff.audit.of_trail"),
            "",
            "",
        ),
    ],
)
def test_an_entry_says_who_did_what_to_whom_when_and_why(
    changes: dict[str, object], subject: str, user: str, why: str
) -> None:
    entry = an_audit_entry(NOW - timedelta(seconds=5), **changes)
    seen = ScreenCase("", show_page(Reader(EN, JAKARTA, NOW), AuditPage((entry,)), AUDIT_TERMS)).text
    said = text(f"staff.audit.{entry.action}", subject=subject)
    said = text("staff.audit.about", said=said, user=user) if user else said
    said = text("staff.audit.why", said=said, detail=why) if why else said
    line = text("staff.audit.entry", day=text("infra.time.today"), time="10:04:55", actor="3001", said=said)
    assert seen == f"{text('staff.audit.title')}\n\n{line}"


def test_pages_turn_and_lead_to_the_trail_of_one_and_back() -> None:
    newest = AuditPage(
        (an_audit_entry(NOW), an_audit_entry(NOW, actor_id=2001)), older="20260817T030500000000-00000000"
    )
    screen = show_page(Reader(EN, JAKARTA, NOW), newest, AUDIT_TERMS)
    assert [[button.label for button in row] for row in screen.keyboard] == [
        [label("staff.audit.older")],
        [label("staff.audit.only", actor="3001"), label("staff.audit.only", actor="2001")],
        [label("staff.audit.export")],
    ]
    of_one = show_page(Reader(EN, JAKARTA, NOW), AuditPage((an_audit_entry(NOW),), 3001, is_newest=False), AUDIT_TERMS)
    assert [[button.label for button in row] for row in of_one.keyboard] == [
        [label("staff.audit.newest")],
        [label("staff.audit.everybody")],
        [label("staff.audit.export")],
    ]

"""A dozen key screens in both languages, word for word: the only screens' tests that quote texts.

When you have changed a text or a button on purpose, write the files again, then read their diff like code::

    UPDATE_GOLDEN=1 .venv/bin/python -m pytest tests/architecture/test_golden_screens.py
"""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from bot.broadcasts.model import Broadcast, Preview
from bot.broadcasts.screens import compose as broadcast_screens
from bot.checkout.steps import review
from bot.home.screens import show_welcome
from bot.infra.i18n import LOCALES, Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.operations import screens as operator_screens
from bot.orders.alarms import OrderInAlarm
from bot.orders.destinations.model import PayoutTimes
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, OrderEvent, Phase
from bot.orders.receipts.screens import build_keyboard
from bot.orders.screens import order_messages
from bot.orders.screens import payment as pay
from bot.orders.screens.formatting import format_sent
from bot.payment_reminders.screens import show_due
from bot.payments.tokens import CODES
from bot.rates.model import estimate
from bot.settlement.model import FAILED
from bot.staff.model import Alarm, AlarmKind
from bot.staff.screens import show_raised
from bot.support.cases import Case
from bot.support.model import Cause, EntryKind
from bot.support.screens.help import HelpFacts, show_first_page
from bot.support.screens.lookups import show_evidence
from bot.support.screens.staff import ask_to_send, show_card
from bot.users.model import Provider, User
from tests.checkout.builders import a_draft_at_review
from tests.operations.samples import FIGURES, a_summary
from tests.orders.builders import an_open_order, as_sent, orders_in_each_state, some_evidence
from tests.payment_reminders.builders import a_reminder
from tests.recipients.builders import a_long_recipient
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.settlement.builders import QUOTE
from tests.staff.samples import some_contacts
from tests.support.builders import an_entry, an_unanswered_ticket
from tests.texts import TRANSLATIONS
from tests.users.builders import SUGGESTION

GOLDEN: Final = Path(__file__).with_name("golden")
UPDATES: Final = os.environ.get("UPDATE_GOLDEN") == "1"
MOMENTS: Final = dict(orders_in_each_state()) | {"sent": as_sent(an_open_order())}
OSCAR: Final = 2001
RUN_BY: Final = Provider(name="PT Kirim", terms_url="https://kirim.example/terms")
NAMES: Final = {1001: "Emma", 3001: "Rina"}


def _status(moment: str) -> Callable[[Translator], Screen]:
    return lambda t: order_messages.show_status(Reader(t, JAKARTA, NOW), MOMENTS[moment], help_offered=True)


def _notice(notice: OrderNotification, moment: str) -> Callable[[Translator], Screen]:
    order = replace(MOMENTS[moment], evidence=some_evidence())
    return lambda t: order_messages.show_notification(
        notice, Reader(t, JAKARTA, NOW), order, help_offered=True, staff_notified=True
    )


def _start(t: Translator) -> Screen:
    facts = HelpFacts(
        minimum=20_000,
        a_day=100_000_000,
        times=PayoutTimes(orders=20, median=timedelta(minutes=3), slow=timedelta(minutes=11)),
        contacts=some_contacts(frozenset({OSCAR}), ""),
    )
    return show_welcome(t, facts, QUOTE, RUN_BY, can_ask=False)


def _review(t: Translator, **how: Any) -> Screen:
    draft = a_draft_at_review(number="1234567890")
    assert draft.amount is not None
    return review.show_review(t, draft, estimate(draft.amount, QUOTE), JAKARTA, ways=CODES, run_by=RUN_BY.name, **how)


def _invoice(t: Translator) -> Screen:
    order = an_open_order(bolt11="lnbcrt294120n1" + "q" * 60)
    paid = pay.build_payment(Reader(t, JAKARTA, NOW), order, "purple coffee boat")
    return Screen(paid.caption, paid.keyboard)


def _receipt(t: Translator) -> Screen:
    order = MOMENTS["sent"]
    return Screen(format_sent(t, order), build_keyboard(t, order, "https://pay.example/verify/K7QM2XPA9RTW"))


def _staff_ticket(t: Translator) -> Screen:
    began = NOW - timedelta(minutes=20)
    ticket = an_unanswered_ticket(NOW, cause=Cause.FAILED).claim(3001, began)
    happened = (
        (Phase.INTENDED, "", EventNote.INTENDED),
        (Phase.OPEN, "", ""),
        (Phase.OPEN, "LN_INVOICE_PAID", ""),
        (Phase.OPEN, "P2PM_ORDER_PLACED", ""),
        (Phase.DONE, FAILED, ""),
    )
    events = tuple(
        OrderEvent(reference="ABC2345", at=began + timedelta(minutes=minute), phase=phase, state=state, note=note)
        for minute, (phase, state, note) in enumerate(happened)
    )
    user = User(id=1001, language_code="en", created_at=began)
    order = replace(MOMENTS["failed paid"], evidence=some_evidence())
    case = Case(user_id=1001, user=user, order=order, events=events, tickets=(ticket,))
    return show_card(Reader(t, JAKARTA, NOW, NAMES), ticket, case, has_topic=True)


def _evidence(t: Translator) -> Screen:
    order = replace(MOMENTS["failed paid"], evidence=some_evidence())
    return show_evidence(Reader(t, JAKARTA, NOW, NAMES), order)


def _send_question(t: Translator) -> Screen:
    ticket = an_unanswered_ticket(NOW)
    written = an_entry(ticket.reference, author_id=3001, number=7, kind=EntryKind.UNDECIDED)
    return ask_to_send(Reader(t, JAKARTA, NOW, NAMES), ticket, written, 1, None)


def _alarm(t: Translator) -> Screen:
    order = MOMENTS["failed paid"]
    alarm = Alarm(kind=AlarmKind.ORDER_FAILED, subject=order.reference, raised_at=NOW)
    return show_raised(Reader(t, JAKARTA, NOW), alarm, {order.reference: OrderInAlarm(order)})


def _status_of_operators(t: Translator) -> Screen:
    alarm = Alarm(kind=AlarmKind.KEY_REFUSED, raised_at=NOW - timedelta(minutes=9))
    return operator_screens.show_status(Reader(t, JAKARTA, NOW), a_summary(alarm), FIGURES, {})


def _broadcast(t: Translator) -> Screen:
    draft = Broadcast(id="0123456789", operator_id=OSCAR, created_at=NOW, revision=3, quote=QUOTE)
    preview = Preview(draft, {"en": 12, "id": 1_000}, timedelta(seconds=61), (), None)
    return broadcast_screens.ask_to_confirm(Reader(t, JAKARTA, NOW), preview)


def _reminder(t: Translator) -> Screen:
    return show_due(Reader(t, JAKARTA, NOW), a_long_recipient(label="Ibu"), a_reminder())


SCREENS: Final[dict[str, Callable[[Translator], Screen]]] = {
    "start": _start,
    "review": _review,
    "review-first": lambda t: _review(t, is_first=True, phrase=SUGGESTION.text),
    "invoice": _invoice,
    "status-waiting": _status("IDLE"),
    "status-paid": _status("LN_INVOICE_PAID"),
    "status-sent": _status("sent"),
    "status-failed": _status("failed paid"),
    "status-expired": _status("expired"),
    "notice-failed": _notice(OrderNotification.FAILED, "failed paid"),
    "receipt-caption": _receipt,
    "staff-ticket": _staff_ticket,
    "staff-send-question": _send_question,
    "operator-alarm": _alarm,
    "operator-status": _status_of_operators,
    "evidence": _evidence,
    "broadcast-preview": _broadcast,
    "payment-reminder": _reminder,
    "help": lambda t: show_first_page(t, some_contacts(frozenset({OSCAR}), "@kirim_help")),
}


def _written(screen: Screen) -> str:
    """The text as its reader sees it, then a line for each row of buttons with what each button does."""
    rows = [
        "  ".join(f"[{button.label}]({button.data or button.url or button.copy})" for button in row)
        for row in screen.keyboard
    ]
    return "\n".join([ScreenCase("golden", Screen(Html(screen.text))).text, "", *rows]).rstrip() + "\n"


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", SCREENS)
def test_a_key_screen_reads_as_in_its_golden_file(name: str, locale: str) -> None:
    path = GOLDEN / locale / f"{name}.txt"
    shown = _written(SCREENS[name](TRANSLATIONS.get(locale)))
    if UPDATES:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8"), "if you meant this: UPDATE_GOLDEN=1 pytest " + __file__


def test_every_golden_file_belongs_to_a_screen() -> None:
    files = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*") if path.is_file()}
    assert files == {f"{locale}/{name}.txt" for locale in LOCALES for name in SCREENS}

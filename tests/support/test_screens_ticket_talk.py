"""The messages around replies and remarks name the ticket and fit Telegram's limits, in both languages."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bot.core.errors import Rejection
from bot.infra.i18n import LOCALES, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import CAPTION_UNITS, TEXT_UNITS, Screen
from bot.sandbox.bot_api import html
from bot.support.entries import OWN_UNITS, count_excess_units
from bot.support.model import (
    CloseReason,
    EntryKind,
    IncomingMessage,
    MediaKind,
    Ticket,
    TicketClosed,
    TicketEntry,
    TicketHeldByAnother,
)
from bot.support.notifications import AboutTicket, Remark
from bot.support.screens import staff as staff_screens
from bot.support.screens.staff import (
    ask_close_reason,
    ask_for_note,
    confirm_closed,
    confirm_note,
    explain_not_corrected,
    explain_not_passed_on,
    explain_notes,
)
from bot.support.screens.user import show_reply, show_withdrawn
from bot.support.user_messages import FILE_STAYS, MAYBE_ARRIVED
from tests.orders.builders import an_open_order
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW
from tests.settlement.builders import LISTED_BCA
from tests.texts import TRANSLATIONS, text

TICKET = Ticket(reference="T-4F7K2", user_id=1001, order_reference="ABC2345", created_at=NOW, claimed_by=3001)
ENTRY = TicketEntry(
    ticket="T-4F7K2",
    number=7,
    kind=EntryKind.REPLY,
    author_id=3001,
    at=NOW,
    text="It is <b>on its way</b>.",
    source_chat_id=-100,
    source_message_id=9,
)
WHYS = (
    "Forbidden: bot was blocked by the user",
    "Forbidden: user is deactivated",
    "Bad Request: chat not found",
    FILE_STAYS,
    MAYBE_ARRIVED,
    "Bad Request: <b>anything</b> & more",
)
REJECTIONS = (
    TicketClosed(),
    TicketHeldByAnother(),
    Rejection("support.staff.refusal.kind"),
    Rejection("support.staff.refusal.command"),
    Rejection("support.staff.refusal.stranger"),
    Rejection("support.staff.refusal.too_long", over=1_300),
)


def every(t: Translator) -> Iterator[Screen]:
    reader = Reader(t, JAKARTA, NOW)
    for rejection in REJECTIONS:
        yield explain_not_passed_on(t, TICKET, rejection)
        yield explain_not_corrected(t, rejection)
    yield ask_for_note(reader, TICKET, 3001)
    yield ask_close_reason(t, TICKET)
    yield confirm_note(t, TICKET)
    yield explain_notes(t)
    for reason in CloseReason:
        yield confirm_closed(t, TICKET, reason)
    for what in Remark:
        for why in WHYS:
            yield staff_screens.show_line(reader, TICKET, a_remark(what, why), ENTRY)
    yield staff_screens.show_line(reader, TICKET, replace(a_remark(Remark.TAKEN_OVER), before=0), ENTRY)
    for entry in (ENTRY, replace(ENTRY, text=None, media=MediaKind.PHOTO), replace(ENTRY, edited_at=NOW)):
        yield show_reply(t, entry, an_open_order())
        yield show_reply(t, entry, None)
        yield show_withdrawn(t, entry, an_open_order())


def a_remark(what: Remark, why: str = "") -> AboutTicket:
    return AboutTicket("T-4F7K2", 1, what, who=3001, before=2001, why=why)


@pytest.mark.parametrize("locale", LOCALES)
def test_every_one_is_markup_that_telegram_takes(locale: str) -> None:
    for screen in every(TRANSLATIONS.get(locale)):
        assert html.parse(screen.text, lambda _: {"id": 1})[0].strip()


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_the_longest_answer_fits_whole_with_all_that_stands_around_it(locale: str, name: str) -> None:
    t, order = TRANSLATIONS.get(locale), an_open_order(replace(LISTED_BCA, name=name, code=name), idr=99_999_999_999)
    again = html.utf16_length(html.parse(t("infra.outbox.again"), lambda _: None)[0]) + 2
    for limit, media in ((TEXT_UNITS, None), (CAPTION_UNITS, MediaKind.PHOTO)):
        text = "x" * (limit - OWN_UNITS)
        assert count_excess_units(IncomingMessage(chat_id=1, message_id=1, text=text, media=media)) == 0
        entry = replace(ENTRY, text=text, media=media, edited_at=NOW)
        shown = html.parse(show_reply(t, entry, order).text, lambda _: None)[0]
        assert html.utf16_length(shown) + again <= limit


def test_an_answer_names_its_ticket_and_its_order_and_shows_no_number() -> None:
    shown = show_reply(TRANSLATIONS.get("en"), ENTRY, an_open_order()).text
    for part in ("T-4F7K2", "ABC2345", "Rp500,000", "BCA", "••••7890", "<blockquote>"):
        assert part in shown
    assert "1234567890" not in shown
    assert "3001" not in shown


@pytest.mark.parametrize(
    ("rejection", "data"),
    [(REJECTIONS[0], "tk:T-4F7K2:reopen"), (REJECTIONS[1], "tk:T-4F7K2:over"), (REJECTIONS[2], None)],
)
def test_a_refusal_offers_the_way_where_there_is_one(rejection: Rejection, data: str | None) -> None:
    keyboard = explain_not_passed_on(TRANSLATIONS.get("en"), TICKET, rejection).keyboard
    assert [button.data for row in keyboard for button in row] == ([data] if data else [])


@pytest.mark.parametrize(
    ("why", "said"),
    [
        (WHYS[0], text("support.staff.why.blocked")),
        (WHYS[1], text("support.staff.why.deactivated")),
        (WHYS[2], text("support.staff.why.unknown")),
        (WHYS[3], text("support.staff.why.file_stays")),
        (WHYS[5], text("support.staff.why.refused", reason="Bad Request: <b>anything</b> & more")),
    ],
)
def test_why_an_answer_did_not_arrive_is_said_in_plain_words(why: str, said: str) -> None:
    assert html.parse(staff_screens.format_failure(TRANSLATIONS.get("en"), why), lambda _: None)[0] == said


def test_only_what_failed_can_be_sent_again() -> None:
    reader = Reader(TRANSLATIONS.get("en"), JAKARTA, NOW)
    with_buttons = [what for what in Remark if staff_screens.show_line(reader, TICKET, a_remark(what), ENTRY).keyboard]
    assert with_buttons == [Remark.FAILED]

"""The card of a ticket shows its status and the possible actions, and no user's name."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import TEXT_UNITS, Screen
from bot.orders.order import Phase, advance
from bot.support.cases import Case
from bot.support.entries import with_quote
from bot.support.model import Cause, CloseReason, EntryKind, MediaKind, Rating, Ticket, TicketEntry
from bot.support.screens import staff as staff_screens
from bot.users.model import User
from tests.orders.builders import an_open_order
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase
from tests.settlement.builders import a_report
from tests.texts import TRANSLATIONS, label, says, text

EN = TRANSLATIONS.get("en")
BEGAN = NOW - timedelta(hours=2)
EMMA = User(id=1001, language_code="en", created_at=BEGAN)
TICKET = replace(Ticket.open(1001, BEGAN, order_reference="ABC2345"), reference="T-4F7K2")
HELD = TICKET.claim(3001, BEGAN)
ANSWERED = replace(HELD, first_reply_at=BEGAN + timedelta(minutes=7), waiting_since=None)
CLOSED = ANSWERED.close(3001, CloseReason.SOLVED, NOW)
ENTRY = TicketEntry(
    ticket="T-4F7K2",
    number=1,
    kind=EntryKind.ASKED,
    author_id=1001,
    at=NOW,
    text="Where <b>is</b> it?",
    source_chat_id=1001,
    source_message_id=7,
)


def a_case(**changes: object) -> Case:
    known = {"user_id": 1001, "user": EMMA, "order": an_open_order(), "tickets": (TICKET,)}
    return Case(**{**known, **changes})  # type: ignore[arg-type]


def card(ticket: Ticket, locale: str = "en", case: Case | None = None) -> ScreenCase:
    t = TRANSLATIONS.get(locale)
    shown = staff_screens.show_card(Reader(t, JAKARTA, NOW), ticket, case or a_case())
    return ScreenCase("card", shown)


def status_lines(ticket: Ticket) -> list[str]:
    """Return the lines before the hint and the case."""
    return ScreenCase("", Screen(staff_screens.format_status(Reader(EN, JAKARTA, NOW), ticket))).text.split("\n")


@pytest.mark.parametrize(
    ("ticket", "lines"),
    [
        (
            TICKET,
            [
                text("support.staff_ticket.unclaimed", reference="T-4F7K2"),
                text("support.staff_ticket.cause.asked", at="08:05 WIB"),
                text("support.staff_ticket.waits", at="08:05 WIB"),
            ],
        ),
        (
            replace(HELD, cause=Cause.FAILED),
            [
                text("support.staff_ticket.claimed", reference="T-4F7K2", by="3001"),
                text("support.staff_ticket.cause.failed", at="08:05 WIB"),
                text("support.staff_ticket.waits", at="08:05 WIB"),
            ],
        ),
        (
            replace(ANSWERED, cause=Cause.STUCK),
            [
                text("support.staff_ticket.claimed", reference="T-4F7K2", by="3001"),
                text("support.staff_ticket.cause.stuck", at="08:05 WIB"),
                text("support.staff_ticket.answered", duration="7 minutes"),
            ],
        ),
        (
            CLOSED.rate(Rating.GOOD, NOW),
            [
                text("support.staff_ticket.closed", reference="T-4F7K2"),
                text("support.staff_ticket.cause.asked", at="08:05 WIB"),
                text("support.staff_ticket.answered", duration="7 minutes"),
                text(
                    "support.staff_ticket.ended",
                    at="10:05 WIB",
                    by="3001",
                    reason=text("support.staff_ticket.reason.solved"),
                ),
                text("support.staff_ticket.rated", thumb="👍"),
            ],
        ),
        (
            CLOSED.reopen(NOW, timedelta(days=1)),
            [
                text("support.staff_ticket.claimed", reference="T-4F7K2", by="3001"),
                text("support.staff_ticket.cause.asked", at="08:05 WIB"),
                text("support.staff_ticket.reopened", count=1),
                text("support.staff_ticket.answered", duration="7 minutes"),
                text("support.staff_ticket.waits", at="10:05 WIB"),
            ],
        ),
    ],
)
def test_a_card_says_how_its_ticket_stands(ticket: Ticket, lines: list[str]) -> None:
    assert status_lines(ticket) == lines


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("reason", CloseReason)
def test_every_reason_has_its_words(locale: str, reason: CloseReason) -> None:
    shown = card(replace(CLOSED, close_reason=reason), locale).text
    assert says(
        shown,
        "support.staff_ticket.ended",
        locale,
        by="3001",
        reason=text(f"support.staff_ticket.reason.{reason}", locale),
    )


def test_who_may_take_it_and_what_can_be_done_stands_under_it() -> None:
    def labels(ticket: Ticket, case: Case | None = None) -> list[str]:
        return [button.label for button in card(ticket, case=case).buttons]

    about_order = [label("support.staff_ticket.fresh"), label("support.reveal.button")]
    names = ("claim", "take", "close", "reopen", "saved_replies")
    claim, take, close, reopen, saved = (label(f"support.staff_ticket.{name}") for name in names)
    assert labels(TICKET) == [claim, close, *about_order, saved]
    assert labels(HELD) == [take, close, *about_order, saved]
    assert labels(CLOSED) == [reopen, *about_order]
    assert labels(TICKET, a_case(order=None)) == [claim, close, saved]
    unmade = a_case(order=an_open_order(service_id=None, number=""))
    assert labels(TICKET, unmade) == [claim, close, saved]
    assert labels(CLOSED, unmade) == [reopen]


def test_the_card_names_other_tickets_but_not_itself() -> None:
    other = replace(Ticket.open(1001, NOW), reference="T-22222")
    shown = card(TICKET, case=a_case(tickets=(TICKET, other))).text
    assert shown.count("T-4F7K2") == 1
    assert says(shown, "support.case.ticket", reference="T-22222", status=text("support.case.ticket.unclaimed"))


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_topic_is_named_after_the_ticket_and_the_sum_and_nobody(name: str) -> None:
    order = an_open_order(replace(an_open_order().method, name=name), holder="BUDI", number="1234567890")
    called = staff_screens.topic_name(EN, TICKET, order)
    assert called.startswith("T-4F7K2 · ")
    assert called.endswith(" Rp500,000")
    assert "BUDI" not in called
    assert "7890" not in called
    assert staff_screens.topic_name(EN, CLOSED, None) == "✅ T-4F7K2"


@pytest.mark.parametrize("locale", LOCALES)
def test_what_the_user_wrote_stands_as_a_quote_with_a_call_to_whoever_holds_the_ticket(locale: str) -> None:
    reader = Reader(TRANSLATIONS.get(locale), JAKARTA, NOW)
    for media in (None, *MediaKind):
        written = replace(ENTRY, media=media)
        said = staff_screens.format_entry_heading(reader, TICKET, written, "10:05", ping=3001, is_changed=media is None)
        seen = ScreenCase("", Screen(with_quote(said, written.text)))
        assert seen.text.endswith("Where is it?")
        assert '<a href="tg://user?id=3001">3001</a>' in seen.screen.text
        for kind in MediaKind:
            assert says(seen.text, f"support.staff_ticket.{kind}", locale) is (kind is media)
    assert "tg://" not in staff_screens.format_entry_heading(reader, TICKET, ENTRY, "10:05", ping=0, is_changed=False)


def test_a_card_with_a_notice_fits_as_well() -> None:
    screen = staff_screens.show_card(
        Reader(EN, JAKARTA, NOW),
        TICKET,
        a_case(),
        notice=EN("support.staff_ticket.unchanged", at="10:05:12"),
    )
    seen = ScreenCase("", screen)
    assert seen.text.startswith(text("support.staff_ticket.unchanged", at="10:05:12"))
    assert seen.units <= TEXT_UNITS


@pytest.mark.parametrize(
    ("state", "phase", "said", "lines"),
    [
        ("IDLE", Phase.OPEN, "IDLE", []),
        (
            "IDLE",
            Phase.OPEN,
            "LN_INVOICE_PAID",
            [
                text("support.staff_ticket.state", before="IDLE", after="LN_INVOICE_PAID"),
                text("support.staff_ticket.now_paid"),
            ],
        ),
        ("FAILED", Phase.DONE, "FAILED", []),
        (
            "FAILED",
            Phase.DONE,
            "COMPLETED",
            [text("support.staff_ticket.state_not_taken", before="FAILED", after="COMPLETED")],
        ),
        (
            "",
            Phase.ABANDONED,
            "IDLE",
            [
                text("support.staff_ticket.state_not_taken", before="-", after="IDLE"),
                text("support.staff_ticket.not_followed"),
            ],
        ),
    ],
)
def test_what_the_service_says_now_is_told_as_a_difference(
    state: str, phase: Phase, said: str, lines: list[str]
) -> None:
    before, report = an_open_order(state=state, phase=phase), a_report(service_id="cm1", state=said)
    after = advance(before, report, NOW)[0] if phase is Phase.OPEN else before
    found = staff_screens.format_differences(EN, before, after, report)
    assert [ScreenCase("", Screen(line)).text for line in found] == lines


@pytest.mark.parametrize("locale", LOCALES)
def test_a_card_and_what_the_user_wrote_are_known_by_the_ticket_they_name_first(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    for ticket in (TICKET, HELD, CLOSED):
        assert staff_screens.find_reference(card(ticket, locale).text) == "T-4F7K2"
    again = staff_screens.show_card(Reader(t, JAKARTA, NOW), TICKET, a_case(), notice=t("infra.outbox.again"))
    assert staff_screens.find_reference(ScreenCase("", again).text) == "T-4F7K2"
    reader = Reader(t, JAKARTA, NOW)
    forged = replace(ENTRY, text=text("support.staff_ticket.unclaimed", reference="T-22222"))
    said = staff_screens.format_entry_heading(reader, TICKET, forged, "10:05", ping=0, is_changed=False)
    assert staff_screens.find_reference(ScreenCase("", Screen(with_quote(said, forged.text))).text) == "T-4F7K2"
    for other in (
        "",
        "T-4F7K2",
        "Look at T-4F7K2 please",
        text("support.case.did", what=text("support.user_event.pressed.help")),
    ):
        assert staff_screens.find_reference(other) == ""

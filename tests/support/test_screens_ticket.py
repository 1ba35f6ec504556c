"""A user's own tickets show their state and only the possible actions."""

from datetime import timedelta
from typing import Any

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.reader import Reader
from bot.orders.order import Order
from bot.support.model import Cause, CloseReason, Rating
from bot.support.screens import help as help_screens
from bot.support.screens import user as user_screens
from bot.users.model import Provider
from tests.orders.builders import ORDER_LINE, an_open_order
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.staff.samples import some_contacts
from tests.support.builders import a_closed_ticket, an_unanswered_ticket
from tests.texts import TRANSLATIONS, says, text

EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
ORDER = an_open_order()
STAFF, NOBODY = frozenset({2001}), frozenset[int]()


def page(ticket: object, *, can_reopen: bool = False, locale: str = "en") -> ScreenCase:
    t = TRANSLATIONS.get(locale)
    shown = user_screens.show_ticket(Reader(t, JAKARTA, NOW), ticket, ORDER, can_reopen=can_reopen)  # type: ignore[arg-type]
    return ScreenCase("", shown)


def data_of(seen: ScreenCase) -> list[str]:
    return [str(button.data) for button in seen.buttons]


def test_an_open_ticket_says_what_it_is_about_and_since_when_it_waits() -> None:
    seen = page(an_unanswered_ticket(NOW))
    opened, waits = text("support.ticket.opened_asked", at="09:45 WIB"), text("support.ticket.waits", at="09:45 WIB")
    assert seen.text == f"{text('support.ticket.heading', ticket='T-4F7K2')}\n{ORDER_LINE}\n\n{opened}\n{waits}"
    assert data_of(seen) == ["t:T-4F7K2:say", "o:ABC2345:page"]


def test_a_ticket_of_another_day_says_which() -> None:
    shown = page(an_unanswered_ticket(NOW, created_at=NOW - timedelta(days=2))).text
    assert says(shown, "support.ticket.opened_asked", at="15 Aug 2026, 10:05 WIB")


def test_an_answered_ticket_waits_for_nobody() -> None:
    seen = page(an_unanswered_ticket(NOW, waiting_since=None))
    assert not says(seen.text, "support.ticket.waits")
    assert says(seen.text, "support.ticket.was_answered")


def test_a_message_about_a_problem_says_that_nothing_has_to_be_done() -> None:
    seen = ScreenCase("", user_screens.describe_ticket(EN, an_unanswered_ticket(NOW, cause=Cause.FAILED)))
    assert seen.text.split("\n\n") == [
        text("support.ticket.heading", ticket="T-4F7K2"),
        text("support.ticket.by_itself"),
    ]
    assert data_of(seen) == ["t:T-4F7K2:say"]


@pytest.mark.parametrize(("locale", "duration"), [("en", "5 minutes"), ("id", "5 menit")])
@pytest.mark.parametrize("about", [(ORDER,), ()])
def test_a_new_ticket_says_at_its_end_how_soon_support_replies_where_that_is_known(
    about: tuple[Order, ...], locale: str, duration: str
) -> None:
    t, ticket = TRANSLATIONS.get(locale), an_unanswered_ticket(NOW, cause=Cause.FAILED)
    screen: Any = user_screens.confirm_opened if about else user_screens.describe_ticket
    unknown = ScreenCase("", screen(t, ticket, *about)).text
    assert not says(unknown, "support.ticket.reply_time", locale)
    known = ScreenCase("", screen(t, ticket, *about, timedelta(minutes=4, microseconds=1))).text
    assert known == f"{unknown}\n\n{text('support.ticket.reply_time', locale, duration=duration)}"


@pytest.mark.parametrize("reason", list(CloseReason))
def test_a_closed_ticket_says_why_in_words_of_its_own(reason: CloseReason) -> None:
    texts = {each: page(a_closed_ticket(NOW, each)).text for each in CloseReason}
    assert len(set(texts.values())) == len(CloseReason)
    assert says(texts[reason], f"support.ticket.closed_{reason}")


def test_a_closed_ticket_can_be_rated_in_one_tap_and_reopened_as_long_as_that_is_possible() -> None:
    rate = ["t:T-4F7K2:rate:good", "t:T-4F7K2:rate:bad"]
    fresh = page(a_closed_ticket(NOW), can_reopen=True)
    assert data_of(fresh) == [*rate, "t:T-4F7K2:reopen", "o:ABC2345:page"]
    assert says(fresh.text, "support.ticket.not_over")
    late = page(a_closed_ticket(NOW))
    assert data_of(late) == [*rate, "o:ABC2345:page"]
    assert not says(late.text, "support.ticket.not_over")


@pytest.mark.parametrize("locale", LOCALES)
def test_a_ticket_that_closed_itself_says_why_and_asks_for_no_rating(locale: str) -> None:
    shown = page(a_closed_ticket(NOW, cause=Cause.STUCK, closed_by=None), can_reopen=True, locale=locale)
    assert says(shown.text, "support.ticket.closed_itself", locale)
    assert data_of(shown)[0] == "t:T-4F7K2:reopen"
    assert not any("rate" in data for data in data_of(shown))


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("rating", list(Rating))
def test_what_was_said_of_the_help_stands_there(rating: Rating, locale: str) -> None:
    shown = page(a_closed_ticket(NOW, rating=rating), locale=locale).text
    assert shown.endswith(f"\n\n{text(f'support.ticket.rated_{rating}', locale)}")


def test_the_question_says_who_reads_the_answer_and_what_nobody_needs() -> None:
    seen = ScreenCase("", user_screens.ask(EN, ORDER, None, "@kirim_help"))
    assert seen.text.split("\n\n") == [
        text("support.help.about", line=ORDER_LINE),
        text("support.ticket.what_is_wrong"),
        text("support.ticket.how_to_write"),
        text("support.help.contact_too", contact="@kirim_help", reference="ABC2345"),
    ]
    assert data_of(seen) == ["t:leave"]


def test_the_question_names_the_ticket_that_is_there_already() -> None:
    is_open = ScreenCase("", user_screens.ask(EN, ORDER, an_unanswered_ticket(NOW))).text
    assert says(is_open, "support.ticket.write_more", ticket="T-4F7K2")
    was_closed = ScreenCase("", user_screens.ask(EN, ORDER, a_closed_ticket(NOW))).text
    assert says(was_closed, "support.ticket.write_to_reopen", ticket="T-4F7K2")


def test_help_leads_to_whoever_there_is() -> None:
    def seen(staff: frozenset[int], contact: str) -> ScreenCase:
        return ScreenCase("", help_screens.show_first_page(EN, some_contacts(staff, contact)))

    assert "t:new" in data_of(seen(STAFF, ""))
    assert seen(STAFF, "@kirim_help").text.endswith(text("support.help.contact_too_alone", contact="@kirim_help"))
    assert "t:new" not in data_of(seen(NOBODY, "help@kirim.example"))
    contact = text("support.help.contact_alone", contact="help@kirim.example")
    alone = text("support.help.text", ask=" · /request")
    assert seen(NOBODY, "help@kirim.example").text == f"{alone}\n\n{contact}"
    assert seen(NOBODY, "").text == alone


def test_help_ends_with_who_runs_the_bot_where_that_is_set() -> None:
    named = Provider(name="A & B", terms_url="https://kirim.example/t", privacy_url="https://kirim.example/p")
    line = " · ".join(
        (text("users.provider.name", name="A & B"), text("users.provider.terms"), text("users.provider.privacy"))
    )
    without = ScreenCase("", help_screens.show_first_page(EN, some_contacts(STAFF, ""))).text
    assert (
        ScreenCase("", help_screens.show_first_page(EN, some_contacts(STAFF, ""), run_by=named)).text
        == f"{without}\n\n{line}"
    )


def test_help_lists_ones_open_tickets_by_what_they_are_about() -> None:
    mine = (an_unanswered_ticket(NOW), an_unanswered_ticket(NOW, reference="T-22222", order_reference=""))
    seen = ScreenCase("", help_screens.show_first_page(ID, some_contacts(STAFF, ""), mine, {"ABC2345": ORDER}))
    buttons = {button.label: button.data for button in seen.buttons}
    assert buttons["🎫 T-4F7K2 · BCA Rp500.000"] == "t:T-4F7K2:show"
    assert buttons["🎫 T-22222"] == "t:T-22222:show"


def test_where_nobody_reads_what_is_written_here_the_contact_is_named() -> None:
    seen = ScreenCase("", user_screens.show_contact(EN, ORDER, "help@kirim.example"))
    assert seen.text.endswith(text("support.help.contact", contact="help@kirim.example", reference="ABC2345"))
    assert seen.buttons == []


def test_help_is_offered_where_there_is_anybody_at_all() -> None:
    assert some_contacts(STAFF, "").is_offered
    assert some_contacts(NOBODY, "@kirim_help").is_offered
    assert not some_contacts(NOBODY, "").is_offered


@pytest.mark.parametrize(
    ("whom", "markup"),
    [
        ("@kirim_help", '<a href="https://t.me/kirim_help">@kirim_help</a>'),
        ("help@kirim.example", "help@kirim.example"),
        ("https://kirim.example/?a=1&b=2", '<a href="https://kirim.example/?a=1&amp;b=2">'),
        ('https://kirim.example/"><b>', '<a href="https://kirim.example/&quot;&gt;&lt;b&gt;">'),
    ],
)
def test_a_contact_can_be_tapped_and_is_never_markup_of_its_own(whom: str, markup: str) -> None:
    assert str(user_screens.format_contact(whom)).startswith(markup)

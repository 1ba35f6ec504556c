"""Who is reminded of a waiting ticket, and the statistics of tickets."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.infra.i18n import LOCALES
from bot.infra.telegram.ui.screen import Screen
from bot.support.model import CloseReason, Rating, Ticket, TicketStatistics, TicketTimes, measure_tickets
from bot.support.notifications import StaffNotification
from bot.support.screens.lookups import format_ticket_times
from bot.support.service import due_reminder, record_reminder
from tests.screens import ScreenCase
from tests.texts import TRANSLATIONS, text

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
REMIND_AFTER = 15 * MINUTE
RINA, OSCAR = 3001, 2001


def after(minutes: int) -> datetime:
    return NOW + minutes * MINUTE


def a_ticket(**changes: Any) -> Ticket:
    return replace(Ticket.open(1001, NOW), **changes)


@pytest.mark.parametrize(
    ("changes", "minutes", "whom"),
    [
        ({}, 0, None),
        ({}, 14, None),
        ({}, 15, StaffNotification.WAITS),
        ({}, 400, StaffNotification.WAITS),
        ({"claimed_by": RINA}, 15, StaffNotification.WAITS),
        ({"waiting_since": None}, 400, None),
        ({"reminded_at": after(15)}, 16, None),
        ({"reminded_at": after(15)}, 29, None),
        ({"reminded_at": after(15)}, 30, StaffNotification.WAITS_LONG),
        ({"reminded_at": after(100)}, 110, None),
        ({"reminded_at": after(15), "escalated_at": after(30)}, 400, None),
    ],
)
def test_support_is_reminded_once_a_wait_and_the_operators_as_long_after_that(
    changes: dict[str, Any], minutes: int, whom: StaffNotification | None
) -> None:
    assert due_reminder(a_ticket(**changes), after(minutes), REMIND_AFTER) is whom


def test_nobody_is_reminded_of_what_is_closed() -> None:
    assert due_reminder(a_ticket().close(RINA, CloseReason.SOLVED, after(1)), after(99), REMIND_AFTER) is None


def test_an_answer_ends_a_wait_and_the_next_word_begins_another() -> None:
    waited = record_reminder(
        record_reminder(a_ticket(), StaffNotification.WAITS, after(15)), StaffNotification.WAITS_LONG, after(30)
    )
    answered = waited.record_reply(RINA, after(31))
    assert due_reminder(answered, after(999), REMIND_AFTER) is None
    asked = answered.add_message(after(60))
    assert [due_reminder(asked, after(minute), REMIND_AFTER) for minute in (74, 75)] == [None, StaffNotification.WAITS]


def test_the_first_words_that_nobody_has_answered_count_not_the_last() -> None:
    asked = a_ticket().add_message(after(14))
    assert due_reminder(asked, after(15), REMIND_AFTER) is StaffNotification.WAITS


def times(answer: int | None = None, close: int | None = None, rating: Rating | None = None) -> TicketTimes:
    return TicketTimes(
        NOW, after(answer) if answer is not None else None, after(close) if close is not None else None, rating
    )


def test_of_no_tickets_there_is_nothing_to_say() -> None:
    assert measure_tickets([]) == TicketStatistics()
    assert format_ticket_times(TRANSLATIONS.get("en"), measure_tickets([])) == ""


def test_medians_count_only_what_has_come_to_pass() -> None:
    found = measure_tickets([times(), times(1), times(3, 9, Rating.GOOD), times(500, 7, Rating.BAD), times(None, 8)])
    assert found == TicketStatistics(
        opened=5, replied=3, closed=3, first_reply=3 * MINUTE, close=8 * MINUTE, good=1, bad=1
    )


@pytest.mark.parametrize(("answered", "said"), [(19, None), (20, 7 * MINUTE)])
def test_the_usual_time_to_a_reply_is_shown_by_twenty_replies(answered: int, said: timedelta | None) -> None:
    assert measure_tickets([*(times(7) for _ in range(answered)), *(times() for _ in range(30))]).typical_reply == said


def test_of_an_even_number_the_median_lies_between_the_middle_two() -> None:
    assert measure_tickets([times(1), times(2), times(4), times(90)]).first_reply == 3 * MINUTE


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1))
def test_a_median_lies_within_what_it_is_of_in_any_order(waits: list[tuple[int, int]]) -> None:
    found = measure_tickets(times(answer, close) for answer, close in waits)
    assert found == measure_tickets(times(answer, close) for answer, close in reversed(waits))
    assert found.first_reply is not None
    assert min(waits)[0] * MINUTE <= found.first_reply <= max(waits)[0] * MINUTE


@pytest.mark.parametrize("locale", LOCALES)
def test_the_lines_say_times_and_ratings_where_there_are_any(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    only_opened = format_ticket_times(t, measure_tickets([times()]))
    assert ScreenCase("", Screen(only_opened)).text == text("support.ticket_times.opened", locale, opened=1, closed=0)
    whole = format_ticket_times(t, measure_tickets([times(1, 180, Rating.GOOD), times(1, 180, Rating.GOOD)]))
    assert ScreenCase("", Screen(whole)).text.split("\n") == [
        text("support.ticket_times.opened", locale, opened=2, closed=2),
        text("support.ticket_times.first_answer", locale, median=text("infra.time.seconds", locale, count=60), count=2),
        text("support.ticket_times.close", locale, median=t.duration(timedelta(hours=3)), count=2),
        text("support.ticket_times.rated", locale, good=2, bad=0),
    ]

"""A second tap within seconds wants nothing new; a later one does."""

from datetime import UTC, datetime, timedelta

from bot.infra.telegram.ui.double_taps import WITHIN, DoubleTapGuard

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
EMMA, SARI = 1001, 1002
BUTTON = "o:ABC2345:receipt"


def test_a_tap_is_a_second_one_for_some_seconds_after_the_first_was_answered() -> None:
    taps = DoubleTapGuard()
    assert not taps.is_second(EMMA, BUTTON, NOW)
    taps.answered(EMMA, BUTTON, NOW)
    assert taps.is_second(EMMA, BUTTON, NOW + WITHIN / 2)
    assert not taps.is_second(EMMA, BUTTON, NOW + WITHIN)


def test_another_button_and_another_chat_are_none_of_it() -> None:
    taps = DoubleTapGuard()
    taps.answered(EMMA, BUTTON, NOW)
    assert not taps.is_second(EMMA, "o:ABC2346:receipt", NOW)
    assert not taps.is_second(SARI, BUTTON, NOW)


def test_what_was_answered_longer_ago_is_forgotten() -> None:
    taps = DoubleTapGuard()
    for person in range(1000):
        taps.answered(person, BUTTON, NOW + person * timedelta(seconds=1))
    assert len(taps._answered) == 5

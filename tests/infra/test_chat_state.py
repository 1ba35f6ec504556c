"""The state of a chat: a second tap within seconds is a double tap, and a later one isn't."""

from datetime import UTC, datetime, timedelta

from bot.infra.telegram.inbound.model import DOUBLE_TAP_WITHIN, ChatState

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
CHAT = ChatState(user_id=1001)
BUTTON = "o:ABC2345:receipt"


def test_a_tap_is_a_double_one_for_some_seconds_after_the_first_was_answered() -> None:
    assert not CHAT.is_double_tap(BUTTON, NOW)
    chat = CHAT.with_tap(BUTTON, NOW)
    assert chat.is_double_tap(BUTTON, NOW + DOUBLE_TAP_WITHIN / 2)
    assert not chat.is_double_tap(BUTTON, NOW + DOUBLE_TAP_WITHIN)


def test_a_tap_on_another_button_is_no_double_tap() -> None:
    chat = CHAT.with_tap(BUTTON, NOW)
    assert not chat.is_double_tap("o:ABC2346:receipt", NOW)
    both = chat.with_tap("o:ABC2346:receipt", NOW)
    assert both.is_double_tap(BUTTON, NOW)


def test_what_was_answered_longer_ago_is_forgotten() -> None:
    chat = CHAT
    for number in range(1000):
        chat = chat.with_tap(f"{BUTTON}{number}", NOW + number * timedelta(seconds=1))
    assert len(chat.answered_buttons) == 5

"""Reasons for seeing a full recipient, and when the minute is over."""

from datetime import datetime, timedelta

import pytest

from bot.core.errors import Rejection
from bot.support.model import SHOWN_FOR, Reveal, read_reason
from tests.screens import NOW

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("bank asks", "bank asks"),
        ("  bank\n asks\u200b ", "bank asks"),
        ("she says 1234567890", "she says ••••7890"),
        ("1234-5678 90 salah?", "••••7890 salah?"),
        ("\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19\uff10 salah", "••••7890 salah"),
        ("sent Rp 50000 on 17.8.", "sent Rp 50000 on 17.8."),
        ("🙏 cek", "🙏 cek"),
    ],
)
def test_a_reason_is_one_line_in_which_nothing_can_be_a_whole_number(typed: str, kept: str) -> None:
    assert read_reason(typed) == kept


@pytest.mark.parametrize("typed", ["", "ok", "...", "1234567890", "👍👍👍", "\u200b\u200b\u200b"])
def test_what_says_nothing_is_no_reason(typed: str) -> None:
    with pytest.raises(Rejection, match=r"support\.reveal\.reason_too_short"):
        read_reason(typed)


def test_a_reason_of_two_hundred_characters_is_taken_and_one_more_is_not() -> None:
    assert read_reason("a" * 200) == "a" * 200
    with pytest.raises(Rejection, match=r"support\.reveal\.reason_too_long"):
        read_reason("a" * 201)


@pytest.mark.parametrize(
    ("now", "over"),
    [
        (NOW, False),
        (NOW + SHOWN_FOR - SECOND, False),
        (NOW + SHOWN_FOR, True),
        (NOW + timedelta(days=3), True),
        (NOW - SECOND, True),  # the clock was set back, so we don't know how long it has been
    ],
)
def test_the_minute_is_over_after_a_minute_and_once_the_clock_cant_be_right(now: datetime, *, over: bool) -> None:
    reveal = Reveal(id="1", reference="ABC2345", staff_id=3001, at=NOW, until=NOW + SHOWN_FOR)
    assert reveal.is_over(now) is over

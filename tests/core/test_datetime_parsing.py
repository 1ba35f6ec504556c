"""Typed times: the next time of day, a day and a time, and texts that aren't a time."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.core.errors import Rejection
from bot.core.time_of_day import read_moment

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)  # 16:00 in Jakarta
JAKARTA = ZoneInfo("Asia/Jakarta")


MOMENTS = {
    (2026, 11, 21, 18, 30): ("18:30", "18.30 WIB", "6.30 pm", "\uff11\uff18\uff1a\uff13\uff10"),
    (2026, 11, 22, 9, 0): ("besok 9.00 wib", "tomorrow 9:00", "Besok jam 9.00"),
    (2026, 11, 21, 20, 0): ("8 malam",),
    (2026, 12, 24, 20, 0): ("24.12 8 pm",),
    (2026, 11, 22, 7, 0): ("pukul 7",),
    (2026, 11, 22, 16, 0): ("16:00",),
    (2026, 11, 21, 17, 5): ("hari ini 17:05",),
    (2026, 12, 24, 8, 0): ("24/12 08:00", "2026-12-24 at 08:00", "24.12.2026, 08.00"),
    (2027, 2, 1, 8, 0): ("1/2 08:00",),
}


@pytest.mark.parametrize(("typed", "moment"), [(each, key) for key, texts in MOMENTS.items() for each in texts])
def test_a_time_is_read_by_the_readers_own_clock(typed: str, moment: tuple[int, ...]) -> None:
    assert read_moment(typed, NOW, JAKARTA) == datetime(*moment, tzinfo=JAKARTA)  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    "typed",
    ["", "soon", "25:00", "18:60", "31/2 8:00", "24/12", "1e3", "tomorrow", "9:00 9:00", "18.30 WITA"],
)
def test_what_is_no_time_is_refused(typed: str) -> None:
    with pytest.raises(Rejection, match=r"core\.template\.time_unread"):
        read_moment(typed, NOW, JAKARTA)


def test_a_time_that_has_passed_or_is_far_away_is_refused() -> None:
    with pytest.raises(Rejection, match="time_passed"):
        read_moment("2026-11-21 16:00", NOW, JAKARTA)
    with pytest.raises(Rejection, match="time_passed"):
        read_moment("today 15:00", NOW, JAKARTA)
    with pytest.raises(Rejection, match="time_too_far"):
        read_moment("2028-01-01 08:00", NOW, JAKARTA)

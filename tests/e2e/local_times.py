"""Times as users read them, so that no test depends on the time of day."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.users.buttons import SettingsAction, SettingsButton
from tests.e2e.chat_user import ChatUser

JAKARTA: Final = ZoneInfo("Asia/Jakarta")
"""The time zone of users who haven't chosen one."""

DAY: Final = r"\d+ [A-Z][a-z]{2}(?: \d{4})?"
TIME: Final = re.compile(rf"(?:{DAY}, )?\d\d:\d\d WIB")
"""A time in English, with its day if that isn't today."""


def now_in_jakarta() -> datetime:
    """Return the time in Jakarta."""
    return datetime.now(JAKARTA)


def hour_far_from_now(*hours: int) -> int:
    """Return the first of `hours` (0 to 23) that is over two hours from now, so nothing falls due in the test."""
    return next(hour for hour in hours if 2 < (hour - now_in_jakarta().hour) % 24 < 22)


def minutes_between(since: datetime, until: datetime) -> list[datetime]:
    """Return all full minutes from `since` to the one that ends `until` (aware), in Jakarta.

    Screens round future times up, so a time counted from a moment between the two is among them.
    """
    first = since.astimezone(UTC).replace(second=0, microsecond=0)
    count = (until - first) // timedelta(minutes=1) + 2
    return [(first + timedelta(minutes=n)).astimezone(JAKARTA) for n in range(count)]


async def move_to_noon(user: ChatUser) -> None:
    """Set the user's time zone to one where it is about noon, so that nothing waits for their morning."""
    await move_to_hour(user, 12)


async def move_to_hour(user: ChatUser, hour: int) -> None:
    """Set the user's time zone to one where it is about `hour`."""
    behind = (datetime.now(UTC).hour - hour + 12) % 24 - 12
    zone = SettingsButton(SettingsAction.ZONE, f"Etc/GMT{behind:+d}")
    await user.presses(await user.says("/settings"), zone.pack(), force=True)

"""Helpers for stories of rate updates."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

from tests.e2e.bot_database import change_rows
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.local_times import hour_far_from_now
from tests.e2e.system import System
from tests.texts import label, like, text
from tests.waiting import TIMEOUT_SECONDS


def condition(side: str, locale: str = "en") -> re.Pattern[str]:
    """Return the condition of an alert."""
    return re.compile(like(f"rates.subscription.{side}", locale, threshold=re.compile(r"Rp[\d,.]+")))


DAILY = like("rates.subscription.daily_text")


def daily_at(time_of_day: str, locale: str = "en") -> str:
    """Return a pattern for the overview with a daily quote at this time."""
    return like("rates.subscription.text", locale, daily=text("rates.subscription.each_day", locale, time=time_of_day))


def selected(shared_system: System, statement: str, *values: object) -> list[tuple[object, ...]]:
    """Return rows of the bot's database."""
    with closing(sqlite3.connect(shared_system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
        return database.execute(statement, values).fetchall()


async def daily_falls_due(shared_system: System, user: ChatUser, *, ago: timedelta = timedelta()) -> None:
    due = (datetime.now(UTC) - ago).strftime("%Y-%m-%d %H:%M:%S.%f")
    await change_rows(shared_system, "UPDATE subscriptions SET next_daily_at = ? WHERE user_id = ?", (due, user.id))


async def price_comes(shared_system: System, user: ChatUser) -> None:
    """Let the bot record the price of this user's alert."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    (rate,) = selected(shared_system, "SELECT threshold FROM rate_alerts WHERE user_id = ? AND is_above", user.id)[0]
    added = "INSERT INTO quotes (fetched_at, btc_idr, source) VALUES (?, ?, 'test')"
    await change_rows(shared_system, added, (now, rate))


def updates_of(shared_system: System, user: ChatUser) -> tuple[int, int]:
    """Return the numbers of subscriptions and alerts of a user."""
    (subscribed,) = selected(shared_system, "SELECT count(*) FROM subscriptions WHERE user_id = ?", user.id)[0]
    (alerts,) = selected(shared_system, "SELECT count(*) FROM rate_alerts WHERE user_id = ?", user.id)[0]
    return int(str(subscribed)), int(str(alerts))


async def opens(user: ChatUser, locale: str = "en") -> Json:
    await user.says("/settings")
    await user.sees(like("home.settings.text", locale))
    await user.taps(label("rates.settings.rate_news", locale))
    return await user.sees(f"{like('rates.subscription.off', locale)}|{like('rates.subscription.text', locale)}")


async def takes_a_daily_quote(user: ChatUser) -> str:
    """Choose a time at which no quote falls due during the test, and return the time as it is shown."""
    hour = hour_far_from_now(6, 12, 19)
    await user.taps(label("rates.subscription.daily"))
    await user.taps(f"{hour:02}:00")
    await user.sees(daily_at(f"{hour:02}:00 WIB"))
    return f"{hour:02}:00 WIB"

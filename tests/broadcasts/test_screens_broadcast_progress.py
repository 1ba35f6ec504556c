"""The live message of a broadcast: its counts add up, and its buttons fit the status."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.broadcasts.model import Broadcast, BroadcastStatus, DeliveryStatus, Progress
from bot.broadcasts.screens.confirmed import show_progress
from bot.core.zones import PRESUMED
from bot.infra.i18n import LOCALES, Translations
from bot.infra.telegram.ui.screen import Screen
from bot.sandbox.bot_api import html
from tests.texts import says

NOW = datetime(2026, 8, 17, 3, 5, tzinfo=UTC)
TRANSLATIONS = Translations.load(strict=True)
DELIVERED, BLOCKED = DeliveryStatus.DELIVERED, DeliveryStatus.BLOCKED
UNKNOWN, WAITING = DeliveryStatus.UNKNOWN, DeliveryStatus.WAITING
MIDDLE = {DELIVERED: 5_900, BLOCKED: 90, UNKNOWN: 10, WAITING: 4_000}


def show(
    status: BroadcastStatus = BroadcastStatus.RUNNING, counts: dict[DeliveryStatus, int] | None = None, **more: Any
) -> Screen:
    ended = NOW + timedelta(minutes=6) if status in {BroadcastStatus.DONE, BroadcastStatus.STOPPED} else None
    broadcast = Broadcast(id="b" * 32, operator_id=2001, status=status, created_at=NOW, started_at=NOW, ended_at=ended)
    locale = more.pop("locale", "en")
    counts = MIDDLE if counts is None else counts
    return show_progress(TRANSLATIONS.get(locale), Progress(broadcast, counts, **more), PRESUMED)


def read_text(seen: Screen) -> str:
    return html.parse(seen.text, lambda _: None)[0]


def actions(seen: Screen) -> list[str]:
    return [str(button.data).rpartition(":")[2] for row in seen.keyboard for button in row]


def test_it_says_how_far_it_is_how_fast_and_how_long_it_takes_yet() -> None:
    said = read_text(show(per_second=29.64))
    assert says(said, "broadcasts.delivery.bar", percent="60%", done=6_000, total=10_000)
    assert says(said, "broadcasts.delivery.pace", rate="29.6", left="2 minutes")
    assert says(said, "broadcasts.delivery.count_delivered", count=5_900)
    assert says(said, "broadcasts.delivery.count_blocked", count=90)


@pytest.mark.parametrize(
    ("status", "may_be_done"),
    [
        (BroadcastStatus.RUNNING, ["pause", "stop", "again", "show"]),
        (BroadcastStatus.PAUSED, ["resume", "stop", "again", "show"]),
        (BroadcastStatus.DONE, ["again"]),
        (BroadcastStatus.STOPPED, []),
    ],
)
def test_it_offers_what_may_be_done(status: BroadcastStatus, may_be_done: list[str]) -> None:
    assert actions(show(status)) == may_be_done


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(
    "status",
    [BroadcastStatus.RUNNING, BroadcastStatus.PAUSED, BroadcastStatus.STOPPED, BroadcastStatus.DONE],
)
@pytest.mark.parametrize("counts", [{}, MIDDLE, dict.fromkeys(DeliveryStatus, 10**9)])
def test_telegram_can_read_it_in_every_state(
    status: BroadcastStatus, locale: str, counts: dict[DeliveryStatus, int]
) -> None:
    seen = show(status, counts, per_second=1000.0, locale=locale)
    assert read_text(seen)

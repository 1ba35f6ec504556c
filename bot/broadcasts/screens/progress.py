"""The progress of a broadcast, and its report. This is the live message of the operator who confirmed it."""

from collections.abc import Mapping
from datetime import timedelta, tzinfo
from decimal import Decimal
from typing import Final

from bot.broadcasts.buttons import DeliveryAction, DeliveryButton
from bot.broadcasts.model import BroadcastStatus, DeliveryStatus
from bot.broadcasts.run import Progress
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen

WIDTH: Final = 14
FULL, EMPTY = "▰", "▱"
ENDED: Final = (DeliveryStatus.DELIVERED, DeliveryStatus.BLOCKED, DeliveryStatus.FAILED, DeliveryStatus.UNKNOWN)
ACTIONS: Final[Mapping[BroadcastStatus, tuple[DeliveryAction, ...]]] = {
    BroadcastStatus.RUNNING: (DeliveryAction.PAUSE, DeliveryAction.STOP),
    BroadcastStatus.PAUSED: (DeliveryAction.RESUME, DeliveryAction.STOP),
}
CAN_RETRY: Final = frozenset({BroadcastStatus.RUNNING, BroadcastStatus.PAUSED, BroadcastStatus.DONE})


def show_progress(t: Translator, progress: Progress, zone: tzinfo) -> Screen:
    """Show status, progress bar, counts, rate and times, with the buttons that the status allows."""
    parts = [_heading(t, progress), _bar(t, progress), _counts(t, progress), _times(t, progress, zone)]
    unknown = progress.counts.get(DeliveryStatus.UNKNOWN, 0)
    if unknown:
        parts.append(t("broadcasts.delivery.unknown_note", count=unknown))
    return Screen("\n\n".join(part for part in parts if part), _keyboard(t, progress, unknown))


def draw_bar(done: int, total: int) -> str:
    """Return a progress bar. It is full only if `done` reaches `total`."""
    filled = WIDTH if done >= total else done * WIDTH // total
    return FULL * filled + EMPTY * (WIDTH - filled)


def estimate_time_left(progress: Progress) -> timedelta | None:
    """Return how long the rest takes at the recent rate; None if the rate isn't known."""
    if progress.broadcast.status is not BroadcastStatus.RUNNING or progress.per_second <= 0:
        return None
    return timedelta(seconds=(sum(progress.counts.values()) - _count_done(progress)) / progress.per_second)


def _count_done(progress: Progress) -> int:
    return sum(progress.counts.get(status, 0) for status in ENDED)


def _heading(t: Translator, progress: Progress) -> Html:
    status = progress.broadcast.status
    if status is BroadcastStatus.RUNNING and progress.is_rate_limited:
        return t("broadcasts.delivery.resting")
    return t(f"broadcasts.delivery.{status}")


def _bar(t: Translator, progress: Progress) -> str:
    done, total = _count_done(progress), sum(progress.counts.values())
    if not total:
        return t("broadcasts.delivery.nobody")
    percent = Decimal(done * 100 // total)
    return t("broadcasts.delivery.bar", bar=draw_bar(done, total), percent=t.percent(percent), done=done, total=total)


def _counts(t: Translator, progress: Progress) -> str:
    """Return the counts: delivered and blocked always, the others if there are any."""
    shown = (DeliveryStatus.DELIVERED, DeliveryStatus.BLOCKED)
    return "\n".join(
        t(f"broadcasts.delivery.count_{status}", count=progress.counts.get(status, 0))
        for status in ENDED
        if status in shown or progress.counts.get(status)
    )


def _times(t: Translator, progress: Progress, zone: tzinfo) -> str:
    broadcast, left = progress.broadcast, estimate_time_left(progress)
    lines = []
    if left is not None:
        rate = Decimal(str(round(progress.per_second, 1)))
        lines.append(t("broadcasts.delivery.pace", rate=rate, left=t.duration(left)))
    if broadcast.started_at is not None:
        lines.append(t("broadcasts.delivery.begun_at", at=t.date_time(broadcast.started_at, zone)))
    if broadcast.ended_at is not None:
        lines.append(t("broadcasts.delivery.ended_at", at=t.date_time(broadcast.ended_at, zone)))
    return "\n".join(lines)


def _keyboard(t: Translator, progress: Progress, unknown: int) -> Keyboard:
    broadcast = progress.broadcast
    rows = []
    if actions := ACTIONS.get(broadcast.status, ()):
        rows.append(tuple(_button(t, broadcast.id, action) for action in actions))
    if unknown and broadcast.status in CAN_RETRY:
        rows.append(
            (
                Button(
                    t.plain("broadcasts.delivery.do_again", count=unknown),
                    data=DeliveryButton(broadcast.id, DeliveryAction.RETRY_UNKNOWN).pack(),
                ),
            )
        )
    if actions:
        rows.append((_button(t, broadcast.id, DeliveryAction.SHOW),))
    return tuple(rows)


def _button(t: Translator, broadcast_id: str, action: DeliveryAction) -> Button:
    label, data = t.plain(f"broadcasts.delivery.do_{action}"), DeliveryButton(broadcast_id, action).pack()
    return Button(label, data=data, style="danger" if action is DeliveryAction.STOP else None)

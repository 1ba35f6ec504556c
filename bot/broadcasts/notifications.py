"""Notifications to operators that a broadcast waits for their confirmation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.broadcasts.model import Broadcast, BroadcastWarning
from bot.broadcasts.repository import BroadcastRepository
from bot.broadcasts.screens import confirm
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Sent, format_subject
from bot.users.readers import RenderContext, Renderer


@dataclass(frozen=True, slots=True)
class WaitingBroadcast:
    """The id of the broadcast that waits, and why. Saved rows name the warnings `doubts`."""

    broadcast: str
    doubts: tuple[BroadcastWarning, ...]


class BroadcastNotification(NotificationKind):
    """Notifications about broadcasts, for operators."""

    WAITS = "broadcast_waits", WaitingBroadcast


def waiting_notifications(
    broadcast: Broadcast, operator_ids: Iterable[int], warnings: tuple[BroadcastWarning, ...], now: datetime
) -> list[Notification[WaitingBroadcast]]:
    """Return a notification for each operator that a broadcast waits for one of them."""
    return [
        Notification(
            chat_id=operator_id,
            subject=format_subject("broadcast", broadcast.id, broadcast.revision),
            kind=BroadcastNotification.WAITS,
            payload=WaitingBroadcast(broadcast.id, warnings),
            due_at=now,
            created_at=now,
        )
        for operator_id in sorted(operator_ids)
    ]


async def render_waiting(notification: Notification[WaitingBroadcast], context: RenderContext) -> DeliveryOutcome:
    """Ask an operator to confirm. Send nothing if the broadcast no longer waits."""
    waiting = notification.payload
    async with context.database.reading() as tx:
        broadcast = await BroadcastRepository(tx).get(waiting.broadcast)
    if broadcast is None or not broadcast.is_waiting:
        return Sent()
    screen = confirm.show_waiting(context.reader, broadcast, waiting.doubts)
    return await context.send_text(notification, screen, priority="talk")


RENDERERS: Final[Mapping[NotificationKind, Renderer]] = {BroadcastNotification.WAITS: render_waiting}

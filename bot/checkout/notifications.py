"""The message that a draft has expired."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.checkout.draft import DraftStatus, OrderDraft
from bot.checkout.repository import DraftRepository
from bot.checkout.screens import draft as screens
from bot.infra.db.errors import RowUnreadable
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Sent, format_mark, format_subject
from bot.infra.telegram.ui.screen import Screen
from bot.users.readers import RenderContext, Renderer


@dataclass(frozen=True, slots=True)
class DraftPayload:
    """The draft that a notification is about, by its id."""

    draft: str


class DraftNotification(NotificationKind):
    """Notifications about a draft."""

    EXPIRED = "draft_expired", DraftPayload


def draft_expired_notification(draft: OrderDraft, now: datetime) -> Notification[DraftPayload]:
    """Return the notification that a draft has expired. A resumed draft can expire again."""
    return Notification(
        chat_id=draft.chat_id,
        subject=format_subject("draft", draft.id),
        kind=DraftNotification.EXPIRED,
        mark=format_mark(draft.revision),
        payload=DraftPayload(draft.id),
        due_at=now,
        created_at=now,
    )


async def render_expired(notification: Notification[DraftPayload], context: RenderContext) -> DeliveryOutcome:
    """Say that the draft has expired, if it still has."""
    try:
        async with context.database.reading() as tx:
            draft = await DraftRepository(tx).get(notification.payload.draft)
    except RowUnreadable as error:
        if error.is_for_others:
            raise
        return await _send(notification, context, screens.damaged(context.t))
    if draft is None or draft.status is not DraftStatus.EXPIRED:
        return Sent()
    return await _send(notification, context, screens.expired(context.t, draft))


async def _send(notification: Notification[DraftPayload], context: RenderContext, screen: Screen) -> DeliveryOutcome:
    return await context.send_text(notification, screen, priority="money", silent=True)


RENDERERS: Final[Mapping[NotificationKind, Renderer]] = {DraftNotification.EXPIRED: render_expired}

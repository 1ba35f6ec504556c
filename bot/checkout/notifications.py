"""The message that a draft has expired."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.checkout import screens
from bot.checkout.draft import DraftStatus, OrderDraft
from bot.checkout.repository import DraftRepository
from bot.infra.db.errors import RowUnreadable
from bot.infra.outbox.model import (
    DeliveryOutcome,
    Notification,
    NotificationKind,
    Sent,
    format_mark,
    format_subject,
)
from bot.infra.outbox.rendering import delivery_outcome
from bot.infra.telegram.outbound.sender import Gone, Invalid
from bot.infra.telegram.ui.screen import Screen
from bot.users.readers import RenderContext, Renderer


@dataclass(frozen=True, slots=True)
class DraftPayload:
    """The draft that a notification is about, by its id, and the message with its question, if that is known."""

    draft: str
    message_id: int | None = None


class DraftNotification(NotificationKind):
    """Notifications about a draft."""

    EXPIRED = "draft_expired", DraftPayload


def draft_expired_notification(
    draft: OrderDraft, now: datetime, message_id: int | None = None
) -> Notification[DraftPayload]:
    """Return the notification that a draft has expired. A resumed draft can expire again."""
    subject, mark = format_subject("draft", draft.id), format_mark(draft.revision)
    return DraftNotification.EXPIRED.create(draft.chat_id, subject, DraftPayload(draft.id, message_id), now, mark)


async def send_expired(notification: Notification[DraftPayload], context: RenderContext) -> DeliveryOutcome:
    """Say that the draft has expired, if it still has, in place of its question. If that is gone, send a message."""
    screen, message_id = await show_expired(notification, context), notification.payload.message_id
    if screen is None:
        return Sent()
    if message_id is not None:
        edited = await context.messenger.edit_text(
            notification.chat_id, message_id, screen.text, screen.keyboard, priority="money"
        )
        if not isinstance(edited, Gone | Invalid):
            return delivery_outcome(edited)
    return await context.send_text(notification, screen, priority="money", silent=True)


async def show_expired(notification: Notification[DraftPayload], context: RenderContext) -> Screen | None:
    """Return that the draft has expired, or None if it no longer has."""
    try:
        async with context.database.reading() as tx:
            draft = await DraftRepository(tx).get(notification.payload.draft)
    except RowUnreadable as error:
        if error.is_unknown:
            raise
        return screens.damaged(context.t)
    return screens.expired(context.t, draft) if draft and draft.status is DraftStatus.EXPIRED else None


RENDERERS: Final[Mapping[NotificationKind, Renderer]] = {DraftNotification.EXPIRED: send_expired}

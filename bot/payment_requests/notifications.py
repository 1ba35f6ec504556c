"""The message with the card of a request: a picture with a QR code, to forward."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.infra.db.errors import RowUnreadable
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Sent, format_mark, format_subject
from bot.infra.outbox.rendering import delivery_outcome, with_repeat_note
from bot.infra.telegram.outbound.sender import Invalid
from bot.infra.telegram.ui.screen import Screen
from bot.payment_requests.card import draw_card_off_loop
from bot.payment_requests.model import PaymentRequest
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payment_requests.screens import card
from bot.users.readers import RenderContext, Renderer


@dataclass(frozen=True, slots=True)
class RequestPayload:
    """The request that a notification is about, by its id."""

    request: str


class PaymentRequestNotification(NotificationKind):
    """Notifications about payment requests."""

    CARD = "payment_request_card", RequestPayload


def card_notification(request: PaymentRequest, now: datetime, update_id: int = 0) -> Notification[RequestPayload]:
    """Return the notification that sends the card to the asker. `update_id` asked for it again."""
    return Notification(
        chat_id=request.user_id,
        subject=format_subject("payment_request", request.id),
        kind=PaymentRequestNotification.CARD,
        mark=format_mark(update_id) if update_id else "",
        payload=RequestPayload(request.id),
        due_at=now,
        created_at=now,
    )


async def render_card(notification: Notification[RequestPayload], context: RenderContext) -> DeliveryOutcome:
    """Send the card, unless the request was deleted. If Telegram rejects the picture, send its text."""
    try:
        async with context.database.reading() as tx:
            request = await PaymentRequestRepository(tx).get(notification.payload.request)
    except RowUnreadable as error:
        if error.is_for_others:
            raise
        screen = Screen(context.t("payment_requests.unreadable"))
        return await context.send_text(notification, screen, priority="money")
    if request is None:
        return Sent()
    bot = context.messenger
    screen = card.show_card(context.t, request, bot.username, inline=bot.has_inline_mode)
    png = await draw_card_off_loop(card.build_facts(context.t, request, bot.username))
    text = with_repeat_note(notification, context.t, screen.text)
    sent = await bot.send_photo(notification.chat_id, png, text, screen.keyboard, priority="money")
    if isinstance(sent, Invalid):
        return await context.send_text(notification, screen, priority="money")
    return delivery_outcome(sent)


RENDERERS: Final[Mapping[NotificationKind, Renderer]] = {PaymentRequestNotification.CARD: render_card}

"""Messages about requests: the QR picture to forward, reports for operators, and what an operator has closed."""

import asyncio
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.infra.db.errors import RowUnreadable
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Sent, format_mark, format_subject
from bot.infra.outbox.rendering import delivery_outcome, with_repeat_note
from bot.infra.telegram.outbound.sender import Invalid
from bot.infra.telegram.ui.screen import Screen
from bot.payment_requests.card import CardFacts
from bot.payment_requests.model import PaymentRequest, new_id
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payment_requests.screens import card, reports
from bot.users.readers import RenderContext, Renderer

_RENDERER: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="card")


@dataclass(frozen=True, slots=True)
class RequestPayload:
    """The request that a notification is about, by its id."""

    request: str


@dataclass(frozen=True, slots=True)
class ClosedPayload:
    """The request that an operator has closed. `is_all`: all of the asker's were closed with it."""

    request: str
    is_all: bool = False


class PaymentRequestNotification(NotificationKind):
    """Notifications about payment requests."""

    CARD = "payment_request_card", RequestPayload
    REPORTED = "payment_request_reported", RequestPayload
    CLOSED = "payment_request_closed", ClosedPayload


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


def report_notifications(
    request: PaymentRequest, operator_ids: Iterable[int], now: datetime
) -> list[Notification[RequestPayload]]:
    """Return a notification for each operator that a request was reported. Each call makes others."""
    return [
        Notification(
            chat_id=operator_id,
            subject=format_subject("payment_request", request.id),
            kind=PaymentRequestNotification.REPORTED,
            mark=new_id(),
            payload=RequestPayload(request.id),
            due_at=now,
            created_at=now,
        )
        for operator_id in sorted(operator_ids)
    ]


def closed_notification(
    request_id: str, user_id: int, now: datetime, *, is_all: bool = False
) -> Notification[ClosedPayload]:
    """Return the notification to the asker that an operator has closed a request, or all of theirs."""
    return Notification(
        chat_id=user_id,
        subject=format_subject("payment_request", request_id),
        kind=PaymentRequestNotification.CLOSED,
        mark="all" if is_all else "",
        payload=ClosedPayload(request_id, is_all),
        due_at=now,
        created_at=now,
    )


def _draw_card(facts: CardFacts) -> bytes:
    from bot.payment_requests.card_drawing import draw_card  # noqa: PLC0415  as for charts

    return draw_card(facts)


async def render_card(notification: Notification[RequestPayload], context: RenderContext) -> DeliveryOutcome:
    """Send the card, unless the request was deleted. If Telegram rejects the picture, send its text."""
    try:
        request = await _read(notification.payload.request, context)
    except RowUnreadable as error:
        if error.is_for_others:
            raise
        screen = Screen(context.t("payment_requests.unreadable"))
        return await context.send_text(notification, screen, priority="money")
    if request is None:
        return Sent()
    bot = context.messenger
    screen = card.show_card(context.t, request, bot.username, inline=bot.has_inline_mode)
    facts = card.build_facts(context.t, request, bot.username)
    png = await asyncio.get_running_loop().run_in_executor(_RENDERER, _draw_card, facts)
    text = with_repeat_note(notification, context.t, screen.text)
    sent = await bot.send_photo(notification.chat_id, png, text, screen.keyboard, priority="money")
    if isinstance(sent, Invalid):
        return await context.send_text(notification, screen, priority="money")
    return delivery_outcome(sent)


async def render_reported(notification: Notification[RequestPayload], context: RenderContext) -> DeliveryOutcome:
    """Tell an operator that a request was reported, unless it was deleted."""
    request = await _read(notification.payload.request, context)
    if request is None:
        return Sent()
    return await context.send_text(notification, reports.show_report(context.t, request), priority="talk")


async def render_closed(notification: Notification[ClosedPayload], context: RenderContext) -> DeliveryOutcome:
    """Tell the asker that an operator has closed a request, unless it was deleted."""
    request = await _read(notification.payload.request, context)
    if request is None:
        return Sent()
    screen = reports.show_closed(context.t, request, is_all=notification.payload.is_all)
    return await context.send_text(notification, screen, priority="talk")


async def _read(request_id: str, context: RenderContext) -> PaymentRequest | None:
    async with context.database.reading() as tx:
        return await PaymentRequestRepository(tx).get(request_id)


RENDERERS: Final[Mapping[NotificationKind, Renderer]] = {
    PaymentRequestNotification.CARD: render_card,
    PaymentRequestNotification.REPORTED: render_reported,
    PaymentRequestNotification.CLOSED: render_closed,
}

"""Messages about requests: the QR picture to forward, reports for operators, and what an operator has closed.

The messages in which a request was shared are in chats that the bot can't see. They follow the request by edits.
"""

import asyncio
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.outbox.model import (
    DeliveryOutcome,
    Notification,
    NotificationKind,
    Queue,
    Sent,
    Undeliverable,
    format_mark,
    format_subject,
)
from bot.infra.outbox.rendering import FinalResult, FollowUp, RenderWithFacts, delivery_outcome, with_repeat_note
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Invalid, TryLater
from bot.infra.telegram.ui.screen import Screen
from bot.orders.repository import LinkTally, OrderRepository
from bot.payment_requests import screens
from bot.payment_requests.model import PaymentRequest, RequestStatus, new_id
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payment_requests.screens import CardFacts
from bot.users.readers import RenderContext, Renderer, as_message

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
    SHARED = "payment_request_shared", RequestPayload, Queue.EDITS


def card_notification(request: PaymentRequest, now: datetime, update_id: int = 0) -> Notification[RequestPayload]:
    """Return the notification that sends the card to the asker. `update_id` asked for it again."""
    mark = format_mark(update_id) if update_id else ""
    payload = RequestPayload(request.id)
    return PaymentRequestNotification.CARD.create(request.user_id, _subject(request.id), payload, now, mark)


def report_notifications(
    request: PaymentRequest, operator_ids: Iterable[int], now: datetime
) -> list[Notification[RequestPayload]]:
    """Return a notification for each operator that a request was reported. Each call makes others."""
    subject, payload, kind = _subject(request.id), RequestPayload(request.id), PaymentRequestNotification.REPORTED
    return [kind.create(each, subject, payload, now, new_id()) for each in sorted(operator_ids)]


def closed_notification(
    request_id: str, user_id: int, now: datetime, *, is_all: bool = False
) -> Notification[ClosedPayload]:
    """Return the notification to the asker that an operator has closed a request, or all of theirs."""
    payload, mark = ClosedPayload(request_id, is_all), "all" if is_all else ""
    return PaymentRequestNotification.CLOSED.create(user_id, _subject(request_id), payload, now, mark)


def shared_notifications(
    requests: Iterable[PaymentRequest], now: datetime, mark: str = ""
) -> list[Notification[RequestPayload]]:
    """Return the edits of the messages in which these requests were shared. Without a `mark`, each call makes others.

    They have a subject of their own, so they don't wait for what the asker is told.
    """
    return [
        PaymentRequestNotification.SHARED.create(
            each.user_id, format_subject("shared_request", each.id), RequestPayload(each.id), now, mark or new_id()
        )
        for each in requests
        if each.shared
    ]


def day_subject(user_id: int) -> str:
    """Return the subject of the summaries of a user's days."""
    return format_subject("payment_request_day", user_id)


def _subject(request_id: str) -> str:
    return format_subject("payment_request", request_id)


def _draw_card(facts: CardFacts) -> bytes:
    from bot.payment_requests.card_drawing import draw_card  # noqa: PLC0415  as for charts

    return draw_card(facts)


def _draw_for_print(facts: CardFacts, width_mm: int) -> bytes:
    from bot.payment_requests.card_drawing import draw_for_print  # noqa: PLC0415  as for charts

    return draw_for_print(facts, width_mm)


async def draw_for_print_off_loop(facts: CardFacts, width_mm: int) -> bytes:
    """Draw a card as a PDF of this width."""
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, _draw_for_print, facts, width_mm)


async def render_card(notification: Notification[RequestPayload], context: RenderContext) -> DeliveryOutcome:
    """Send the card, unless the request was deleted. If Telegram rejects the picture, send its text."""
    try:
        request = await _read(notification.payload.request, context)
    except RowUnreadable as error:
        if error.is_unknown:
            raise
        screen = Screen(context.t("payment_requests.unreadable"))
        return await context.send_text(notification, screen, priority="money")
    if request is None:
        return Sent()
    bot = context.messenger
    screen = screens.show_card(context.t, request, bot.username, inline=bot.has_inline_mode)
    facts = screens.build_facts(context.t, request, bot.username)
    png = await asyncio.get_running_loop().run_in_executor(_RENDERER, _draw_card, facts)
    text = with_repeat_note(notification, context.t, screen.text)
    sent = await bot.send_photo(notification.chat_id, png, text, screen.keyboard, priority="money")
    if isinstance(sent, Invalid):
        return await context.send_text(notification, screen, priority="money")
    return delivery_outcome(sent)


async def show_reported(notification: Notification[RequestPayload], context: RenderContext) -> Screen | None:
    """Tell an operator that a request was reported, unless it was deleted."""
    request = await _read(notification.payload.request, context)
    return screens.show_report(context.t, request) if request else None


async def show_closed(notification: Notification[ClosedPayload], context: RenderContext) -> Screen | None:
    """Tell the asker that an operator has closed a request, unless it was deleted."""
    request = await _read(notification.payload.request, context)
    return screens.show_closed(context.t, request, is_all=notification.payload.is_all) if request else None


async def read_shared(
    notification: Notification[RequestPayload], tx: Transaction
) -> tuple[PaymentRequest | None, LinkTally]:
    """Return the request as it is now, with what came in by it. None if it was deleted, or can't be read."""
    request_id = notification.payload.request
    try:
        request = await PaymentRequestRepository(tx).get(request_id)
    except RowUnreadable as error:
        if error.is_unknown:
            raise
        request = None  # it is recorded for the monitor
    return request, (await OrderRepository(tx).tally_links([request_id])).get(request_id, LinkTally())


async def edit_shared(
    _: Notification[RequestPayload], facts: tuple[PaymentRequest | None, LinkTally], context: RenderContext
) -> DeliveryOutcome:
    """Show in each message that shares a request how it is now. After the last change, forget the messages.

    A message that can't be edited was deleted, or the bot may not write there: nobody is told. Without an answer about
    one, the others are edited all the same. The next attempt edits all of them again, which changes nothing where it is
    done.
    """
    request, tally = facts
    if request is None or not request.shared:
        return Sent()
    screen = screens.show_shared(context.t, request, tally, context.now, context.messenger.username)
    failed: TryLater | None = None
    for message in request.shared:
        edited = await context.messenger.edit_inline(message, screen.text, screen.keyboard)
        if isinstance(edited, TryLater):
            failed = edited
            if not edited.maybe_sent:  # Telegram asks for a pause
                break
    if failed is not None:
        return delivery_outcome(failed)
    if request.status is RequestStatus.CLOSED and not tally.in_progress:
        async with context.database.transaction() as tx:
            requests = PaymentRequestRepository(tx)
            if (known := await requests.lock(request.id)) is not None:
                new = tuple(each for each in known.shared or () if each not in request.shared)
                await requests.save_shared(replace(known, shared=new))
    return Sent()


async def follow_shared(
    tx: Transaction, notification: Notification[RequestPayload], result: FinalResult, now: datetime
) -> None:
    """Queue the edits again that were given up because the asker has blocked the bot. They are in other chats."""
    if isinstance(result, Undeliverable) and result.whole_chat:
        edits = notification.subject, [PaymentRequestNotification.SHARED], notification.chat_id
        await OutboxRepository(tx).queue_again(*edits, now)


async def _read(request_id: str, context: RenderContext) -> PaymentRequest | None:
    async with context.database.reading() as tx:
        return await PaymentRequestRepository(tx).get(request_id)


RENDERERS: Final[Mapping[NotificationKind, Renderer]] = {
    PaymentRequestNotification.CARD: render_card,
    PaymentRequestNotification.REPORTED: as_message(show_reported, priority="talk"),
    PaymentRequestNotification.CLOSED: as_message(show_closed, priority="talk"),
    PaymentRequestNotification.SHARED: RenderWithFacts(read_shared, edit_shared, shows_state=True),
}

FOLLOW_UPS: Final[Mapping[NotificationKind, FollowUp]] = {PaymentRequestNotification.SHARED: follow_shared}

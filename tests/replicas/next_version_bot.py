"""The bot of a newer version without a migration: it has one more message."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from unittest.mock import patch

import bot.__main__
import bot.process
from bot.infra.i18n import Html
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind
from bot.infra.telegram.ui.screen import Screen
from bot.orders import notification_queue
from bot.orders.notification_kinds import AboutOrder, OrderNotification
from bot.orders.notifications.rendering import OrderMessages
from bot.orders.order import Order
from bot.users.readers import RenderContext, Renderer

MESSAGE: Final = "This message exists since the next version."

_order_notifications, _renderers = notification_queue.order_notifications, OrderMessages.renderers


class NextNotification(NotificationKind):
    """What only the newer version knows."""

    ALSO_PAID = "also_paid", AboutOrder


def main() -> None:
    """Run the bot."""
    # `patch` fails if there is no such name. All changes of a followed order are queued by this module.
    patch.object(notification_queue, "order_notifications", _with_next_kind).start()
    OrderMessages.renderers = _with_next_renderer  # type: ignore[method-assign,assignment]  # the newer version's own
    bot.__main__.main()


def _with_next_kind(order: Order, kinds: Iterable[OrderNotification], now: datetime) -> list[Notification[AboutOrder]]:
    """Return the notifications, and another one right before each `PAID`."""
    made: list[Notification[AboutOrder]] = []
    for notification in _order_notifications(order, kinds, now):
        if notification.kind == OrderNotification.PAID:
            made.append(replace(notification, kind=NextNotification.ALSO_PAID))
        made.append(notification)
    return made


def _with_next_renderer(messages: OrderMessages) -> Mapping[NotificationKind, Renderer]:
    return {**_renderers(messages), NextNotification.ALSO_PAID: _render}


async def _render(notification: Notification[Any], context: RenderContext) -> DeliveryOutcome:
    return await context.send_text(notification, Screen(Html(MESSAGE)), priority="money")

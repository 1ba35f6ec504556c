"""Notifications about the rate: daily quotes and price alerts. In quiet hours they are silent."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from bot.core.time_of_day import is_quiet
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationKind, Queue, Sent, format_subject
from bot.infra.outbox.rendering import delivery_outcome
from bot.rates import screens
from bot.rates.model import RateAlert, Subscription
from bot.rates.repository import SubscriptionRepository
from bot.settlement.model import Quote
from bot.users.readers import RenderContext, Renderer

RATE_SUBJECT: Final = "rate:"
"""The beginning of the subjects of all notifications about the rate."""

MAX_DELAY: Final = timedelta(hours=2)
"""A daily quote that is later than this isn't sent: users who want it in the morning don't want it at night."""


@dataclass(frozen=True, slots=True)
class DailyQuote:
    """The quote of the day, and the change since the day before in percent."""

    quote: Quote
    change: Decimal | None


@dataclass(frozen=True, slots=True)
class PriceReached:
    """The quote that met an alert, and the alert. `cooldown_until` is None if the alert is sent once."""

    quote: Quote
    is_above: bool
    threshold: Decimal
    cooldown_until: datetime | None


class RateNotification(NotificationKind):
    """Notifications about the rate. Messages about money in the same chat don't wait for these."""

    DAILY_QUOTE = "daily_quote", DailyQuote, Queue.BULK
    PRICE_ALERT = "rate_alert", PriceReached, Queue.BULK


def daily_quote(user_id: int, due_at: datetime, payload: DailyQuote, now: datetime) -> Notification[DailyQuote]:
    """Return the notification of a daily quote that was due at `due_at`."""
    subject = RATE_SUBJECT + format_subject("daily", due_at.isoformat())
    return RateNotification.DAILY_QUOTE.create(user_id, subject, payload, now)


def price_alert(
    alert: RateAlert, quote: Quote, cooldown_until: datetime | None, now: datetime
) -> Notification[PriceReached]:
    """Return the notification of an alert that `quote` met."""
    subject = RATE_SUBJECT + format_subject("alert", alert.id, quote.fetched_at.isoformat())
    payload = PriceReached(quote, alert.is_above, alert.threshold, cooldown_until)
    return RateNotification.PRICE_ALERT.create(alert.user_id, subject, payload, now)


async def render_daily(notification: Notification[DailyQuote], context: RenderContext) -> DeliveryOutcome:
    """Send a daily quote if the user is still a subscriber."""
    subscription = await _subscription(context)
    # A repeated or late quote would only disturb.
    if subscription is None or notification.maybe_sent or context.now - notification.created_at > MAX_DELAY:
        return Sent()
    screen = screens.show_daily_quote(context.t, notification.payload.quote, notification.payload.change, context.zone)
    return delivery_outcome(
        await context.messenger.send_text(
            notification.chat_id,
            screen.text,
            screen.keyboard,
            priority="bulk",
            silent=is_quiet_for(context, subscription),
        )
    )


async def render_alert(notification: Notification[PriceReached], context: RenderContext) -> DeliveryOutcome:
    """Send an alert if the user is still a subscriber."""
    subscription = await _subscription(context)
    if subscription is None:
        return Sent()
    reached = notification.payload
    screen = screens.show_price_alert(
        context.t,
        reached.quote,
        reached.threshold,
        context.zone,
        is_above=reached.is_above,
        cooldown_until=reached.cooldown_until,
    )
    return await context.send_text(notification, screen, priority="bulk", silent=is_quiet_for(context, subscription))


async def _subscription(context: RenderContext) -> Subscription | None:
    """Return the reader's subscription. None if there is none, or if the reader asked for deletion."""
    user = context.user
    if user is None or user.deletion_requested_at is not None:
        return None
    async with context.database.reading() as tx:
        return await SubscriptionRepository(tx).get(user.id)


def is_quiet_for(context: RenderContext, subscription: Subscription) -> bool:
    """Return whether the reader has quiet hours now."""
    return is_quiet(context.now, context.zone, subscription.quiet_from, subscription.quiet_until)


RENDERERS: Final[Mapping[NotificationKind, Renderer]] = {
    RateNotification.DAILY_QUOTE: render_daily,
    RateNotification.PRICE_ALERT: render_alert,
}

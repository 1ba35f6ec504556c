"""What the settings mean for the parts of the house: rules, patience and pace."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from bot.broadcasts.service import BroadcastRules
from bot.config import Settings
from bot.infra.telegram.outbound.limiter import Limits as Pace
from bot.orders.limits import Limits
from bot.orders.rules import Rules
from bot.settlement.budget import LEAST_PER_SECOND
from bot.users.provider import Provider


def rules_of(settings: Settings) -> Rules:
    """The settings that orders go by."""
    return Rules(
        network=settings.invoice_network,
        min_order_idr=settings.min_order_idr,
        drift_percent=Decimal(str(settings.price_drift_percent)),
        reconcile_for=timedelta(seconds=settings.reconcile_seconds),
        poll_interval=timedelta(seconds=settings.poll_interval_seconds),
        operator_ids=settings.operator_ids,
        support_ids=settings.support_ids,
        limits=Limits(
            open_orders=settings.max_open_orders,
            orders_per_hour=settings.max_orders_per_hour,
            idr_per_day=settings.max_idr_per_day,
        ),
        overdue_after=timedelta(seconds=settings.stuck_seconds),
    )


def broadcast_rules_of(settings: Settings) -> BroadcastRules:
    """The settings that broadcasts go by."""
    return BroadcastRules(
        default_locale=settings.default_locale,
        jump_percent=Decimal(str(settings.broadcast_jump_percent)),
        messages_per_second=settings.broadcast_messages_per_second,
        operator_ids=settings.operator_ids,
    )


def provider_of(settings: Settings) -> Provider:
    """Return who runs the bot, as its users are shown it."""
    return Provider(name=settings.operator_name, terms_url=settings.terms_url, privacy_url=settings.privacy_url)


def patience_of(settings: Settings) -> timedelta:
    """How long the service may bring nothing before that is an alarm: six looks at an order, a minute at the most."""
    return min(6 * timedelta(seconds=settings.poll_interval_seconds), timedelta(minutes=1))


def silence_of(settings: Settings) -> timedelta:
    """How long the poller may give no sign of life: twelve looks, and what its budget makes it wait for one."""
    slowest = min(settings.service_max_requests_per_second, LEAST_PER_SECOND)
    return timedelta(seconds=12 * min(settings.poll_interval_seconds, 5) + 2 / slowest)


def pace_of(settings: Settings) -> Pace:
    """How fast Telegram is written to. Broadcasts that aren't paid for share the 30 a second with everything else."""
    usual, broadcasts = Pace(), settings.broadcast_messages_per_second
    in_chats = replace(
        usual,
        chat_gap=usual.chat_gap / settings.chat_messages_per_second,
        edit_gap=usual.edit_gap / settings.chat_messages_per_second,
        group_per_minute=settings.group_messages_per_minute,
        bulk_per_second=broadcasts,
    )
    if settings.allow_paid_broadcast:
        return in_chats
    return replace(in_chats, total_per_second=max(usual.total_per_second, broadcasts))

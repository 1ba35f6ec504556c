"""Show, export and delete rate updates as a user's data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Translator
from bot.rates.model import RateAlert, Subscription
from bot.rates.repository import AlertRepository, SubscriptionRepository
from bot.users.user_data import JsonObject, StoredData, UserData, format_time


@dataclass(frozen=True, slots=True)
class StoredRateMessages(StoredData):
    """A user's rate updates in `/privacy`."""

    subscription: Subscription | None
    alerts: tuple[RateAlert, ...]

    def settings(self, t: Translator) -> Sequence[str]:
        """Return when the daily rate is sent, and how many alerts are set."""
        if self.subscription is None and not self.alerts:
            return ()
        minute = self.subscription.daily_minute if self.subscription else None
        daily = t.plain("rates.subscription.none") if minute is None else t.time_of_day(minute)
        return (t("rates.privacy.rate_news", daily=daily, alerts=len(self.alerts)),)


async def stored(tx: Transaction, user_id: int) -> StoredRateMessages:
    """Return the subscription and the alerts of a user."""
    return StoredRateMessages(
        await SubscriptionRepository(tx).get(user_id), await AlertRepository(tx).find_by_user(user_id)
    )


async def has_any(tx: Transaction, user_id: int) -> bool:
    """Return whether the user has a subscription or an alert."""
    found = await stored(tx, user_id)
    return found.subscription is not None or bool(found.alerts)


async def export_user(tx: Transaction, user_id: int) -> JsonObject:
    """Return the subscription and the alerts for the exported file."""
    found = await stored(tx, user_id)
    return {
        "rate_news": _subscription(found.subscription),
        "rate_alerts": [_alert(each) for each in found.alerts],
    }


async def delete_user(tx: Transaction, user_id: int, _now: datetime) -> None:
    """End the user's subscription and delete their alerts."""
    await SubscriptionRepository(tx).delete(user_id)


def _subscription(subscription: Subscription | None) -> JsonObject | None:
    if subscription is None:
        return None
    return {
        "subscribed_since": format_time(subscription.subscribed_at),
        "daily_quote_at": _format_minute(subscription.daily_minute),
        "next_daily_quote_at": format_time(subscription.next_daily_at),
        "quiet_from": _format_minute(subscription.quiet_from),
        "quiet_until": _format_minute(subscription.quiet_until),
    }


def _alert(alert: RateAlert) -> JsonObject:
    return {
        "rings": "above" if alert.is_above else "below",
        "idr_per_btc": str(alert.threshold),
        "again_after_seconds": alert.cooldown_seconds,
        "cooldown_until": format_time(alert.cooldown_until),
        "set_at": format_time(alert.created_at),
        "expires_at": format_time(alert.expires_at),
    }


def _format_minute(minute: int | None) -> str | None:
    """Return a minute of the user's day as a time: "07:30"."""
    return None if minute is None else f"{minute // 60:02}:{minute % 60:02}"


USER_DATA = UserData(feature="rates", stored=stored, has_any=has_any, export_user=export_user, delete_user=delete_user)

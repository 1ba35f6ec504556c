"""Rate updates in `/privacy`."""

from functools import partial

from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import count_rows
from bot.infra.i18n import Html, Translator
from bot.rates.model import Subscription
from bot.rates.repository import SubscriptionRepository
from bot.rates.tables import rate_alerts
from bot.users.user_data import StoredData, UserData


def stored_rate_updates(subscription: Subscription | None, alerts: int) -> StoredData:
    """Return when the daily rate is sent, and how many alerts are set."""
    if subscription is None and not alerts:
        return StoredData()
    return StoredData(settings=partial(_format_updates, subscription.daily_minute if subscription else None, alerts))


def _format_updates(minute: int | None, alerts: int, t: Translator) -> Html:
    daily = t.plain("rates.subscription.none") if minute is None else t.time_of_day(minute)
    return t("rates.privacy.rate_news", daily=daily, alerts=alerts)


async def stored(tx: Transaction, user_id: int) -> StoredData:
    """Return the subscription and the alerts of a user."""
    subscription = await SubscriptionRepository(tx).get(user_id)
    return stored_rate_updates(subscription, await count_rows(tx, rate_alerts, user_id))


USER_DATA = UserData(stored=stored)

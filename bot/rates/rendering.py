"""Tells the news of the rate: daily quotes and alerts, silently where it is night for the reader."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from bot.core.clock import Clock
from bot.core.time_of_day import is_quiet
from bot.infra.db.database import Database
from bot.infra.i18n import Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, Sent
from bot.infra.outbox.rendering import kept, tell_text
from bot.infra.telegram.outbound.sender import Messenger
from bot.rates.model import Subscription
from bot.rates.notifications import ALERT, DAILY, LATEST
from bot.rates.screens import notifications as quote_news
from bot.rates.subscription_repository import SubscriptionRepository
from bot.settlement.model import quote_in
from bot.users.model import Person
from bot.users.readers import Renderer


class QuoteRenderer:
    """Two of the outbox's tellers. Whoever has stopped it all meanwhile is told nothing any more."""

    def __init__(self, store: Database, messenger: Messenger, clock: Clock) -> None:
        self._store = store
        self._messenger = messenger
        self._clock = clock

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return {DAILY: self._daily, ALERT: self._alert}

    async def _daily(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        subscription = await self._wished_by(reader)
        # A quote that may have been read is no loss, and one that comes at night is a nuisance.
        if reader is None or subscription is None or news.maybe_told or self._clock.now() - news.created_at > LATEST:
            return Sent()
        change = news.payload.get("change")
        screen = quote_news.daily(
            t, quote_in(news.payload), None if change is None else Decimal(str(change)), reader.zone
        )
        silent = self._is_quiet(reader, subscription)
        return kept(
            await self._messenger.send_text(news.chat_id, screen.text, screen.keyboard, lane="bulk", silent=silent)
        )

    async def _alert(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        subscription = await self._wished_by(reader)
        if reader is None or subscription is None:
            return Sent()
        rests_until = news.payload.get("rests_until")
        screen = quote_news.alert(
            t,
            quote_in(news.payload),
            Decimal(str(news.payload["threshold"])),
            reader.zone,
            is_above=bool(news.payload["is_above"]),
            rests_until=None if rests_until is None else datetime.fromisoformat(str(rests_until)),
        )
        silent = self._is_quiet(reader, subscription)
        return await tell_text(self._messenger, news, t, screen, lane="talk", silent=silent)

    async def _wished_by(self, reader: Person | None) -> Subscription | None:
        if reader is None or reader.delete_asked_at is not None:
            return None
        async with self._store.reading() as tx:
            return await SubscriptionRepository(tx).get(reader.id)

    def _is_quiet(self, reader: Person, subscription: Subscription) -> bool:
        return is_quiet(self._clock.now(), reader.zone, subscription.quiet_from, subscription.quiet_until)

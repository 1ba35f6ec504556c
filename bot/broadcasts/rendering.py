"""Tells operators that a broadcast's time has come and that it waits for their word."""

from collections.abc import Mapping

from bot.broadcasts.repository import BroadcastRepository
from bot.broadcasts.rules import waits_for_word
from bot.broadcasts.screens import confirm as broadcast_confirm
from bot.broadcasts.service import SUBJECT, WAITS
from bot.core.clock import Clock
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.i18n import Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, Sent
from bot.infra.outbox.rendering import kept, marked
from bot.infra.telegram.outbound.sender import Messenger
from bot.users.model import Person
from bot.users.readers import Renderer


class BroadcastRenderer:
    """A teller of news."""

    def __init__(self, store: Database, messenger: Messenger, clock: Clock) -> None:
        self._store = store
        self._messenger = messenger
        self._clock = clock

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return {WAITS: self.tell}

    async def tell(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        """One attempt; nothing is told of a broadcast that an operator has decided about meanwhile."""
        async with self._store.reading() as tx:
            broadcast = await BroadcastRepository(tx).get(news.subject.removeprefix(SUBJECT).partition(":")[0])
        if broadcast is None or not waits_for_word(broadcast):
            return Sent()
        zone, doubts = reader.zone if reader else PRESUMED, str(news.payload.get("doubts", ""))
        screen = broadcast_confirm.waits(t, broadcast, doubts, self._clock.now(), zone)
        text = marked(news, t, screen.text)
        return kept(await self._messenger.send_text(news.chat_id, text, screen.keyboard, lane="talk"))

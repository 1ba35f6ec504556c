"""Tells operators that a broadcast's time has come and that it waits for their word."""

from bot.actions.broadcast_rules import waits_for_word
from bot.actions.broadcasts import SUBJECT, WAITS
from bot.actions.ports import Clock, News, Person, Store, Told
from bot.chat.messenger import Messenger
from bot.chat.screens import broadcast_confirm
from bot.chat.telling import Tellers, Telling, kept, marked
from bot.domain.zones import PRESUMED
from bot.i18n import Translator


class BroadcastNews:
    """A teller of news."""

    def __init__(self, store: Store, messenger: Messenger, clock: Clock) -> None:
        self._store = store
        self._messenger = messenger
        self._clock = clock

    def tellers(self) -> Tellers:
        """The kinds that it tells."""
        return {WAITS: self.tell}

    async def tell(self, news: News, reader: Person | None, t: Translator) -> Telling:
        """One attempt; nothing is told of a broadcast that an operator has decided about meanwhile."""
        async with self._store.reading() as tx:
            broadcast = await tx.broadcasts.get(news.subject.removeprefix(SUBJECT).partition(":")[0])
        if broadcast is None or not waits_for_word(broadcast):
            return Told()
        zone, doubts = reader.zone if reader else PRESUMED, str(news.payload.get("doubts", ""))
        screen = broadcast_confirm.waits(t, broadcast, doubts, self._clock.now(), zone)
        text = marked(news, t, screen.text)
        return kept(await self._messenger.send_text(news.chat_id, text, screen.keyboard, lane="talk"))

"""News of what became of something -> a reaction under support's own message, or a line in the ticket."""

from collections.abc import Mapping
from typing import Final

from bot.infra.db.database import Database
from bot.infra.i18n import Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, Undeliverable
from bot.infra.outbox.rendering import marked
from bot.infra.telegram.outbound.sender import Gone, Invalid, Messenger, Outcome
from bot.infra.telegram.ui.screen import Screen
from bot.support.model import TicketEntry, TicketPost
from bot.support.staff.entries import Place, send_entry
from bot.support.staff.screens import remarks as staff_remarks
from bot.support.staff.topics import TicketRoom
from bot.support.tickets.notifications import ToStaffChat, ticket_in
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.posting import entry_of
from bot.support.tickets.remarks import Remark
from bot.users.model import Person
from bot.users.readers import Renderer

REACTIONS: Final[Mapping[Remark, str]] = {Remark.DELIVERED: "👌", Remark.CORRECTED: "✍"}
"""What went as it should needs no line of its own, where reactions are allowed."""

SENT_ON: Final = frozenset({Remark.ANSWERED, Remark.NOTED, Remark.TAKEN_OVER})
"""What brings a picture or a file along, for it stands in another chat than this one."""


class RemarkRenderer:
    """Tells support."""

    def __init__(self, store: Database, messenger: Messenger, room: TicketRoom) -> None:
        self._store = store
        self._messenger = messenger
        self._room = room

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return {ToStaffChat.REMARK: self._tell}

    async def _tell(self, news: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        async with self._store.reading() as tx:
            entry = await entry_of(tx, news)
            head = await TicketPostRepository(tx).head(ticket_in(news.subject), news.chat_id)
        if entry is None:
            return Undeliverable("the entry is gone")
        what = Remark(str(news.payload["what"]))
        is_here = entry.source_chat_id == news.chat_id
        if what in REACTIONS and is_here:
            reacted = await self._messenger.rooms.react(news.chat_id, entry.source_message_id, REACTIONS[what])
            if not isinstance(reacted, Gone | Invalid):
                return await self._room.ended(news.chat_id, None, reacted)
        screen = staff_remarks.screen(t, what, entry, news.payload)
        shown = Screen(marked(news, t, screen.text), screen.keyboard)
        place = _place(news, entry, head, is_here=is_here)
        sent = await self._sent(place, what, entry, shown, is_here=is_here)
        return await self._room.ended(news.chat_id, place.topic_id, sent)

    async def _sent(self, place: Place, what: Remark, entry: TicketEntry, shown: Screen, *, is_here: bool) -> Outcome:
        if what in SENT_ON and not is_here:
            return await send_entry(self._messenger, place, entry, shown)
        return await self._messenger.send_text(
            place.chat_id, shown.text, shown.keyboard, lane="talk", topic_id=place.topic_id, reply_to=place.reply_to
        )


def _place(news: Notification, entry: TicketEntry, head: TicketPost | None, *, is_here: bool) -> Place:
    """In the ticket's topic; under the message that it is about, where that stands in this chat."""
    topic_id, card = (head.topic_id, head.message_id) if head else (None, None)
    return Place(news.chat_id, topic_id, entry.source_message_id if is_here else card)

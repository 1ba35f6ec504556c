"""News of what a person or their order has done with a ticket that was there already -> one line in support's room.

The card has changed by then; but nobody is called by an edit.
"""

from collections.abc import Mapping

from bot.infra.db.database import Database
from bot.infra.i18n import Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, Sent
from bot.infra.outbox.rendering import marked
from bot.infra.telegram.outbound.sender import Messenger
from bot.support.model import TicketPost
from bot.support.staff.rendering import reading_of
from bot.support.staff.screens import ticket as staff_ticket
from bot.support.staff.topics import TicketRoom
from bot.support.tickets.notifications import ToStaffChat, ticket_in
from bot.support.tickets.repository import TicketRepository
from bot.users.model import Person
from bot.users.readers import Renderer


class StepRenderer:
    """Tells support."""

    def __init__(self, store: Database, messenger: Messenger, room: TicketRoom) -> None:
        self._store = store
        self._messenger = messenger
        self._room = room

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return {ToStaffChat.STEP: self._tell}

    async def _tell(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        async with self._store.reading() as tx:
            ticket = await TicketRepository(tx).get(ticket_in(news.subject))
        if ticket is None:
            return Sent()
        home = await self._room.home(reading_of(news, reader, t), ticket)
        if not isinstance(home, TicketPost):
            return home
        ping = news.payload.get("ping")
        said = staff_ticket.step(t, ticket, str(news.payload["what"]), ping=ping if isinstance(ping, int) else 0)
        place = self._room.place(home)
        sent = await self._messenger.send_text(
            place.chat_id,
            marked(news, t, said),
            (),
            lane="talk",
            topic_id=place.topic_id,
            reply_to=place.reply_to,
        )
        return await self._room.ended(news.chat_id, place.topic_id, sent)

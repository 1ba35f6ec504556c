"""News of tickets -> messages in support's room: the card, what the person wrote, and what they have changed of it."""

from collections.abc import Mapping

from bot.core.clock import Clock
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.i18n import Html, Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, NotificationStatus, Sent
from bot.infra.outbox.rendering import marked
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.telegram.outbound.sender import Delivered, Messenger, Outcome
from bot.infra.telegram.outbound.truncate import CAPTION_UNITS, TEXT_UNITS, visible_units
from bot.infra.telegram.ui.screen import Screen
from bot.support.model import PostRole, TicketEntry, TicketPost
from bot.support.staff.entries import Place, send_entry, with_quote
from bot.support.staff.screens import ticket as staff_ticket
from bot.support.staff.topics import Reading, TicketRoom
from bot.support.ticket import Ticket
from bot.support.tickets.notifications import ToStaffChat, ticket_in
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.posting import entry_of
from bot.support.tickets.repository import TicketRepository
from bot.users.model import Person
from bot.users.readers import Renderer


class StaffChatRenderer:
    """Tells support what its persons and their orders do."""

    def __init__(self, store: Database, messenger: Messenger, clock: Clock, room: TicketRoom) -> None:
        self._store = store
        self._messenger = messenger
        self._clock = clock
        self._room = room

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return {
            ToStaffChat.HEAD: self._tell_head,
            ToStaffChat.CARD: self._tell_card,
            ToStaffChat.ENTRY: self._tell_entry,
            ToStaffChat.EDITED: self._tell_entry,
        }

    async def _tell_head(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        ticket = await self._ticket(news)
        again = t("news.again") if news.maybe_told else ""
        home = await self._room.home(reading_of(news, reader, t), ticket, again) if ticket else Sent()
        return Sent(home.message_id, home.topic_id) if isinstance(home, TicketPost) else home

    async def _tell_card(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        ticket = await self._ticket(news)
        if ticket is None or await self._is_overtaken(news):
            return Sent()
        return await self._room.update(reading_of(news, reader, t), ticket)

    async def _tell_entry(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        ticket = await self._ticket(news)
        async with self._store.reading() as tx:
            written = await entry_of(tx, news)
        if ticket is None or written is None:
            return Sent()
        reading = reading_of(news, reader, t)
        home = await self._room.home(reading, ticket)
        if not isinstance(home, TicketPost):
            return home
        said, place = self._said(news, reading, ticket, written), await self._place(news, home, written)
        sent = await self._send(place, written, said)
        return await self._room.ended(news.chat_id, home.topic_id, sent)

    def _said(self, news: Notification, reading: Reading, ticket: Ticket, written: TicketEntry) -> Html:
        is_changed, ping = news.kind.startswith(ToStaffChat.EDITED), news.payload.get("ping")
        at = written.edited_at if is_changed and written.edited_at else written.at
        said = staff_ticket.entry(
            reading.t,
            ticket,
            written,
            reading.t.clock(at, reading.zone),
            ping=ping if isinstance(ping, int) else 0,
            is_changed=is_changed,
        )
        return Html(marked(news, reading.t, said))

    async def _place(self, news: Notification, home: TicketPost, written: TicketEntry) -> Place:
        """What was changed answers what it was before, which stays to be read."""
        if not news.kind.startswith(ToStaffChat.EDITED):
            return self._room.place(home)
        async with self._store.reading() as tx:
            before = await TicketPostRepository(tx).of_entry(written.ticket, written.number, news.chat_id)
        return self._room.place(home, before.message_id if before else None)

    async def _send(self, place: Place, written: TicketEntry, said: Html) -> Outcome:
        """In one message where it fits; a long text follows by itself, whole."""
        whole = with_quote(said, written.text)
        if visible_units(whole) <= (CAPTION_UNITS if written.media else TEXT_UNITS):
            return await send_entry(self._messenger, place, written, Screen(whole))
        first = await send_entry(self._messenger, place, written, Screen(said))
        if not isinstance(first, Delivered):
            return first
        text = with_quote("", written.text)
        rest = await self._messenger.send_text(
            place.chat_id, text, (), lane="talk", topic_id=place.topic_id, reply_to=first.message_id
        )
        if not isinstance(rest, Delivered) or rest.message_id is None:
            return rest
        await self._keep(place, written, rest.message_id)
        return first

    async def _keep(self, place: Place, written: TicketEntry, message_id: int) -> None:
        """The rest of the person's words may be answered as well as their beginning."""
        post = TicketPost(
            chat_id=place.chat_id,
            message_id=message_id,
            ticket=written.ticket,
            role=PostRole.ENTRY,
            topic_id=place.topic_id,
            entry=written.number,
            at=self._clock.now(),
        )
        async with self._store.transaction() as tx:
            await TicketPostRepository(tx).add(post)

    async def _is_overtaken(self, news: Notification) -> bool:
        """Whether a later change of the card waits in this chat: a group bears 20 messages and edits a minute."""
        async with self._store.reading() as tx:
            queued = await OutboxRepository(tx).of_subject(news.subject)
        return any(
            later.id > news.id
            and later.chat_id == news.chat_id
            and later.kind.startswith(ToStaffChat.CARD)
            and later.status is NotificationStatus.WAITING
            for later in queued
        )

    async def _ticket(self, news: Notification) -> Ticket | None:
        async with self._store.reading() as tx:
            return await TicketRepository(tx).get(ticket_in(news.subject))


def reading_of(news: Notification, reader: Person | None, t: Translator) -> Reading:
    """How a piece of news is read where it goes."""
    return Reading(news.chat_id, t, reader.zone if reader else PRESUMED)

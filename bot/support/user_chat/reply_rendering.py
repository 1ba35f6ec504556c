"""Answers of support's -> messages to their person: new, corrected, taken back.

What is told is the entry as it is at that moment. What the message's id says of an answer that is taken back is told
to `support/tickets/relay`: the answer's own, where its words were taken out; another, where it was deleted.
"""

from collections.abc import Mapping
from typing import Final

from bot.infra.db.database import Database
from bot.infra.i18n import Translator
from bot.infra.outbox.model import DeliveryOutcome, Notification, Sent, Undeliverable
from bot.infra.outbox.rendering import kept, marked, tell_text
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Messenger, NotModified
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.support.model import TicketEntry
from bot.support.staff.entries import Place, edit_entry, send_entry
from bot.support.tickets.notifications import ToUser, ticket_in
from bot.support.tickets.posting import entry_of
from bot.support.tickets.relay import MAYBE_ARRIVED
from bot.support.tickets.repository import TicketRepository
from bot.support.user_chat.screens import reply as ticket_answer
from bot.users.model import Person
from bot.users.readers import Renderer

FILE_STAYS: Final = "the file can't be taken out of a message that is too old to be deleted"
GONE: Final = Undeliverable("the answer is gone")


class ReplyRenderer:
    """Tells persons what support has answered."""

    def __init__(self, store: Database, messenger: Messenger) -> None:
        self._store = store
        self._messenger = messenger

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return {
            ToUser.ANSWER: self._tell_answer,
            ToUser.ANSWER_EDITED: self._tell_edited,
            ToUser.ANSWER_WITHDRAWN: self._tell_withdrawn,
        }

    async def _tell_answer(self, news: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        entry, order = await self._read(news)
        if entry is None:
            return GONE
        if entry.withdrawn_at is not None:
            # One that has perhaps arrived can't be deleted: nobody knows its message.
            return Undeliverable(MAYBE_ARRIVED) if news.maybe_told else Sent()
        return await self._send(news, t, entry, ticket_answer.screen(t, entry, order))

    async def _tell_edited(self, news: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        """In its place; where that isn't possible any more, as another message."""
        entry, order = await self._read(news)
        if entry is None:
            return GONE
        if entry.message_id is None or entry.withdrawn_at is not None:
            return Sent()
        screen = ticket_answer.screen(t, entry, order)
        edited = await edit_entry(self._messenger, news.chat_id, entry.message_id, entry, screen)
        match edited:
            case Delivered() | NotModified():
                return Sent(entry.message_id)
            case Gone() | Invalid():
                return await self._send(news, t, entry, screen, reply_to=entry.message_id)
        return kept(edited)

    async def _tell_withdrawn(self, news: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        """Deleted, with a line in its place: it may have been read. Too old for that, its words are taken out."""
        entry, order = await self._read(news)
        if entry is None:
            return GONE
        if entry.message_id is None:
            return Sent()
        screen = ticket_answer.withdrawn(t, entry, order)
        deleted = await self._messenger.delete(news.chat_id, entry.message_id, lane="talk")
        if isinstance(deleted, Gone | Invalid):
            blanked = await self._blank(news.chat_id, entry.message_id, entry, screen)
            if blanked is not None:
                return blanked
        elif not isinstance(deleted, Delivered):
            return kept(deleted)
        return await tell_text(self._messenger, news, t, screen, lane="talk", silent=screen.silent)

    async def _blank(self, chat_id: int, message_id: int, entry: TicketEntry, screen: Screen) -> DeliveryOutcome | None:
        """None where there is no such message any more: it has been deleted after all."""
        edit = self._messenger.edit_caption if entry.media else self._messenger.edit_text
        edited = await edit(chat_id, message_id, screen.text, screen.keyboard, lane="talk")
        match edited:
            case Delivered() | NotModified():
                return Undeliverable(FILE_STAYS) if entry.media else Sent(message_id)
            case Gone() | Invalid():
                return None
        return kept(edited)

    async def _send(
        self, news: Notification, t: Translator, entry: TicketEntry, screen: Screen, *, reply_to: int | None = None
    ) -> DeliveryOutcome:
        shown = Screen(marked(news, t, screen.text), screen.keyboard)
        return kept(await send_entry(self._messenger, Place(news.chat_id, reply_to=reply_to), entry, shown))

    async def _read(self, news: Notification) -> tuple[TicketEntry | None, Order | None]:
        async with self._store.reading() as tx:
            ticket, entry = await TicketRepository(tx).get(ticket_in(news.subject)), await entry_of(tx, news)
            about = ticket.order_reference if ticket is not None else ""
            return entry, await OrderRepository(tx).get(about) if about else None

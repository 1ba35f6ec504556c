"""News of tickets that wait for too long -> messages to the room where support works, and to operators."""

from collections.abc import Mapping
from datetime import datetime

from bot.core.clock import Clock
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Translator
from bot.infra.outbox.delivery import After
from bot.infra.outbox.model import DeliveryOutcome, Notification, Sent, Undeliverable
from bot.infra.outbox.rendering import tell_text
from bot.infra.telegram.outbound.sender import Messenger
from bot.staff.roles import StaffChat
from bot.support.model import PostRole, TicketPost
from bot.support.staff.links import link_to
from bot.support.staff.screens import waits as staff_waits
from bot.support.ticket import Ticket
from bot.support.tickets.notifications import ToStaffChat, ticket_in
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.posting import keep_post
from bot.support.tickets.repository import TicketRepository
from bot.users.model import Person
from bot.users.readers import Renderer


class WaitRenderer:
    """What was answered before it could be told isn't told any more."""

    def __init__(self, store: Database, messenger: Messenger, clock: Clock, room: StaffChat) -> None:
        self._store = store
        self._messenger = messenger
        self._clock = clock
        self._room = room

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return {ToStaffChat.WAITS: self._tell_room, ToStaffChat.WAITS_LONG: self._tell_operator}

    def after(self) -> Mapping[str, After]:
        """What follows: the reminder is a message of the ticket, which may be replied to."""
        return {ToStaffChat.WAITS: _posted}

    async def _tell_room(self, news: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        ticket, head = await self._read(news, news.chat_id)
        if ticket is None:
            return Sent()
        screen = staff_waits.to_room(t, ticket, self._clock.now())
        reply_to, topic_id = (head.message_id, head.topic_id) if head else (None, None)
        return await tell_text(self._messenger, news, t, screen, lane="talk", reply_to=reply_to, topic_id=topic_id)

    async def _tell_operator(self, news: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        async with self._store.reading() as tx:
            group = await self._room.group(tx)
        ticket, head = await self._read(news, group)
        if ticket is None:
            return Sent()
        screen = staff_waits.to_operator(t, ticket, self._clock.now(), link_to(head))
        return await tell_text(self._messenger, news, t, screen, lane="talk")

    async def _read(self, news: Notification, where: int | None) -> tuple[Ticket | None, TicketPost | None]:
        """The ticket, if its person waits as long as the news say, and its card in a chat."""
        reference = ticket_in(news.subject)
        async with self._store.reading() as tx:
            ticket = await TicketRepository(tx).get(reference)
            head = await TicketPostRepository(tx).head(reference, where) if where else None
        waits = ticket is not None and ticket.is_open and ticket.waits_since is not None
        since = ticket.waits_since.isoformat() if ticket is not None and ticket.waits_since else None
        return (ticket if waits and since == news.payload.get("since") else None), head


async def _posted(tx: Transaction, news: Notification, how: Sent | Undeliverable, now: datetime) -> None:
    head = await TicketPostRepository(tx).head(ticket_in(news.subject), news.chat_id)
    await keep_post(tx, news, how, now, PostRole.REMARK, topic_id=head.topic_id if head else None)

"""News of tickets -> messages to their persons: one has opened by itself, one was closed.

Each is remembered as the ticket's own, so that a reply to it reaches support; so is the news of what went wrong.
What a forgotten person's tickets leave behind in support's chats is taken away.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from bot.core.clock import Clock
from bot.core.zones import PRESUMED
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Translator
from bot.infra.outbox.delivery import After
from bot.infra.outbox.model import DeliveryOutcome, Notification, Sent, Undeliverable
from bot.infra.outbox.rendering import kept, tell_text
from bot.infra.telegram.outbound.sender import Invalid, Messenger, Outcome, TryLater
from bot.infra.telegram.ui.reader import Reader
from bot.orders.notifications import reference_in
from bot.orders.order import Order, OrderNotification
from bot.orders.repository import OrderRepository
from bot.support.model import PostRole
from bot.support.reply_time import ReplyTime
from bot.support.ticket import Ticket
from bot.support.tickets.notifications import ToStaffChat, ToUser, ticket_in
from bot.support.tickets.posting import keep_post
from bot.support.tickets.repository import TicketRepository
from bot.support.user_chat.screens import page as ticket_page
from bot.support.user_chat.screens import question as ticket_question
from bot.users.model import Person
from bot.users.readers import Renderer


class TicketRenderer:
    """Tells persons of their tickets. `reopen_within` is how long a closed one may be taken up again."""

    def __init__(
        self, store: Database, messenger: Messenger, clock: Clock, *, reopen_within: timedelta, reply_time: ReplyTime
    ) -> None:
        self._store = store
        self._messenger = messenger
        self._clock = clock
        self._within = reopen_within
        self._reply_time = reply_time

    def renderers(self) -> Mapping[str, Renderer]:
        """Return the renderer of each kind of notification."""
        return {
            ToUser.OPENED: self._tell_opened,
            ToUser.CLOSED: self._tell_closed,
            ToStaffChat.FORGOTTEN: self._remove,
        }

    async def _tell_opened(self, news: Notification, _: Person | None, t: Translator) -> DeliveryOutcome:
        """Silently: what went wrong has just been told."""
        ticket, order = await self._read(news)
        if ticket is None:
            return Sent()
        screen = ticket_question.opened_for_order(t, ticket, order, await self._reply_time.get())
        return await tell_text(self._messenger, news, t, screen, lane="money", silent=True)

    async def _tell_closed(self, news: Notification, reader: Person | None, t: Translator) -> DeliveryOutcome:
        ticket, order = await self._read(news)
        if ticket is None or ticket.is_open:
            return Sent()
        now, zone = self._clock.now(), reader.zone if reader else PRESUMED
        may_reopen = ticket.may_be_reopened(now, self._within)
        screen = ticket_page.screen(Reader(t, zone, now), ticket, order, may_reopen=may_reopen)
        return await tell_text(self._messenger, news, t, screen, lane="money")

    async def _remove(self, news: Notification, _: Person | None, __: Translator) -> DeliveryOutcome:
        """Take away what support's chat shows of a forgotten person's ticket. Repeating it does no harm."""
        if news.payload.get("chat") != news.chat_id:
            return Sent()
        for outcome in await self._removed(news):
            if isinstance(outcome, TryLater):
                return kept(outcome)
        return Sent()

    async def _removed(self, news: Notification) -> list[Outcome]:
        """A topic goes with all that was written in it; elsewhere each of our messages, while Telegram lets us."""
        topics, messages = _numbers(news.payload.get("topics")), _numbers(news.payload.get("messages"))
        rooms = self._messenger.rooms
        gone = [await rooms.delete_topic(news.chat_id, topic) for topic in topics]
        if gone and all(not isinstance(each, Invalid) for each in gone):
            return gone
        return [await self._messenger.delete(news.chat_id, message, lane="talk") for message in messages]

    async def _read(self, news: Notification) -> tuple[Ticket | None, Order | None]:
        async with self._store.reading() as tx:
            ticket = await TicketRepository(tx).get(ticket_in(news.subject))
            about = ticket.order_reference if ticket is not None else ""
            return ticket, await OrderRepository(tx).get(about) if about else None


def _numbers(value: object) -> list[int]:
    return [each for each in value if isinstance(each, int)] if isinstance(value, list) else []


async def _told_of_ticket(tx: Transaction, news: Notification, how: Sent | Undeliverable, now: datetime) -> None:
    await keep_post(tx, news, how, now, PostRole.REMARK)


async def _told_of_trouble(tx: Transaction, news: Notification, how: Sent | Undeliverable, now: datetime) -> None:
    ticket = await TicketRepository(tx).open_of(news.chat_id, reference_in(news.subject))
    if ticket is not None:
        await keep_post(tx, news, how, now, PostRole.REMARK, ticket=ticket.reference)


AFTER: Mapping[str, After] = {
    **dict.fromkeys(map(str, (ToUser.OPENED, ToUser.CLOSED)), _told_of_ticket),
    **dict.fromkeys(map(str, (OrderNotification.FAILED, OrderNotification.STUCK)), _told_of_trouble),
}
"""What is remembered when news have been told."""

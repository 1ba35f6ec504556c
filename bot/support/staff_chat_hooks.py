"""What follows when news for support's room end: what stands there is remembered, and what doesn't goes elsewhere.

A group that can't be written to loses nothing: its news go to each supporter's private chat, and operators hear of it.
"""

from collections.abc import Mapping
from datetime import datetime

from bot.infra.db.transaction import Transaction
from bot.infra.outbox.delivery import After
from bot.infra.outbox.model import Notification, Sent, Undeliverable
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notifications import staff_news
from bot.staff.alarm_model import Alarm, AlarmKind
from bot.staff.alarms import RAISED, add, over, subject_of, told_of
from bot.staff.chat_repository import MovedChatRepository
from bot.staff.roles import StaffChat
from bot.support.model import PostRole
from bot.support.tickets.notifications import ToStaffChat, ToUser, marked, tell_room, ticket_in
from bot.support.tickets.post_repository import TicketPostRepository
from bot.support.tickets.posting import keep_post
from bot.support.tickets.repository import TicketRepository

End = Sent | Undeliverable
ON_THE_CARD = (ToUser.OPENED, ToUser.CLOSED)


class RoomHooks:
    """The `after` of news for the room."""

    def __init__(self, room: StaffChat, operator_ids: frozenset[int]) -> None:
        self._room = room
        self._operators = operator_ids

    def around(self, others: Mapping[str, After]) -> Mapping[str, After]:
        """Those of `others`, and with each kind of news for the room what follows for all of them."""
        own: dict[str, After] = {ToStaffChat.ENTRY: _keep_entry, ToStaffChat.EDITED: _keep_entry}
        of_room: dict[str, After] = {kind: self._with_room(others.get(kind) or own.get(kind)) for kind in ToStaffChat}
        return {**others, **of_room, **{kind: self._with_card(others.get(kind)) for kind in ON_THE_CARD}}

    def _with_card(self, then: After | None) -> After:
        """What the person was told of their ticket stands on its card, with what became of it."""

        async def after(tx: Transaction, news: Notification, how: End, now: datetime) -> None:
            if then is not None:
                await then(tx, news, how, now)
            ticket = await TicketRepository(tx).get(ticket_in(news.subject))
            if ticket is not None:
                await tell_room(tx, self._room, ticket, marked(ToStaffChat.CARD, f"{ticket.version}.{news.id}"), now)

        return after

    def _with_room(self, then: After | None) -> After:
        async def after(tx: Transaction, news: Notification, how: End, now: datetime) -> None:
            if then is not None:
                await then(tx, news, how, now)
            if news.chat_id == await self._room.group(tx):
                await self._of_group(tx, news, how, now)

        return after

    async def _of_group(self, tx: Transaction, news: Notification, how: End, now: datetime) -> None:
        if isinstance(how, Sent):
            if how.message_id is not None:
                await over(tx, AlarmKind.ROOM_LOST, "", now, self._operators)
            return
        await OutboxRepository(tx).add([_for(supporter, news, now) for supporter in sorted(self._room.supporters)])
        if how.whole_chat:
            await self._raise(tx, now)

    async def _raise(self, tx: Transaction, now: datetime) -> None:
        alarm = Alarm(kind=AlarmKind.ROOM_LOST, raised_at=now)
        if await add(tx, alarm):
            await OutboxRepository(tx).add(
                staff_news(self._operators, RAISED, subject_of(alarm), now, **told_of(alarm))
            )


def _for(supporter: int, news: Notification, now: datetime) -> Notification:
    return Notification(
        chat_id=supporter,
        subject=news.subject,
        kind=news.kind,
        queue=news.queue,
        payload=news.payload,
        due_at=now,
        created_at=now,
    )


async def _keep_entry(tx: Transaction, news: Notification, how: End, now: datetime) -> None:
    """An answer to what the person wrote is an answer to the person."""
    await keep_post(tx, news, how, now, PostRole.ENTRY)


async def save_moved_chat(tx: Transaction, old: int, new: int) -> None:
    """Remember that Telegram gave the staff's group another id (a hook of the outbox)."""
    await MovedChatRepository(tx).save(old, new)
    await TicketPostRepository(tx).delete_in_chat(old)

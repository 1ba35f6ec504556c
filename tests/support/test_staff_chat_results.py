"""What follows the notifications for the chat of staff: what is there is saved, and a lost chat loses nothing."""

from collections import deque
from collections.abc import AsyncIterator

import pytest

from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.follow_ups import chain
from bot.infra.outbox.model import ChatMoved, Sent, Undeliverable
from bot.staff.alarm_model import AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from bot.staff.notifications import AlarmNotification
from bot.support.model import EntryKind, PostRole, TicketEntry
from bot.support.notifications import posts
from bot.support.notifications.kinds import AboutTicket, StaffNotification, UserEntry
from bot.support.notifications.queueing import notify_staff
from bot.support.notifications.staff_chat_results import StaffChatResults, save_moved_chat
from bot.support.ticket import Ticket
from bot.support.tickets.entry_repository import TicketEntryRepository
from bot.support.tickets.post_repository import TicketPostRepository
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_world import EMMA, GROUP, OSCAR, RINA, Room

KICKED = Undeliverable("Forbidden: bot was kicked from the supergroup chat", whole_chat=True)
BOSS, NEW_GROUP = 2002, -1_002_000
Remembered = list[tuple[int, PostRole, int, int | None]]


@pytest.fixture
async def room(file: str) -> AsyncIterator[Room]:
    """A group, of which everything is remembered."""
    clock = MovedClock()
    made = Room(file, clock)
    follow_ups = chain(posts.FOLLOW_UPS, StaffChatResults(made.room, frozenset({BOSS})).follow_ups())
    made.delivery = OutboxDelivery(made.store, made.ears, clock, after=follow_ups, on_chat_moved=(save_moved_chat,))
    yield made
    await made.store.close()


async def writes_in(room: Room, ticket: Ticket, number: int = 1) -> None:
    """What the user wrote, and the notification of it."""
    now = room.clock.now()
    async with room.store.transaction() as tx:
        await TicketEntryRepository(tx).add(
            TicketEntry(
                ticket=ticket.reference,
                number=0,
                kind=EntryKind.ASKED,
                author_id=EMMA,
                at=now,
                text="Where is it?",
                source_chat_id=EMMA,
                source_message_id=number,
            )
        )
        entry = UserEntry(ticket.reference, number)
        await notify_staff(tx, room.room, StaffNotification.ENTRY, entry, now, mark=str(number))


async def remembered(room: Room, *messages: tuple[int, int]) -> Remembered:
    """What these messages are."""
    async with room.store.reading() as tx:
        posts = [await TicketPostRepository(tx).get(*message) for message in messages]
    return [(post.chat_id, post.role, post.entry, post.topic_id) for post in posts if post is not None]


async def alarms(room: Room) -> list[AlarmKind]:
    """Those that are raised."""
    async with room.store.reading() as tx:
        return [alarm.kind for alarm in await AlarmRepository(tx).open()]


async def test_what_the_user_wrote_can_be_answered_where_it_stands(room: Room) -> None:
    ticket = await room.opens()
    room.ears.outcomes[GROUP] = deque([Sent(77, topic_id=5)])
    await writes_in(room, ticket)
    await room.tells()
    assert await remembered(room, (GROUP, 77)) == [(GROUP, PostRole.ENTRY, 1, 5)]


async def test_a_group_that_is_lost_notifies_each_agent_and_raises_one_alarm(room: Room) -> None:
    ticket = await room.opens()
    room.ears.outcomes[GROUP] = deque([KICKED] * 3)
    async with room.store.transaction() as tx:
        about = AboutTicket(ticket.reference)
        await notify_staff(tx, room.room, StaffNotification.HEAD, about, room.clock.now())
    await writes_in(room, ticket)
    await room.tells()
    await writes_in(room, ticket, 2)
    await room.tells()
    for supporter in (OSCAR, RINA):
        assert room.heard(supporter) == [StaffNotification.HEAD, "ticket_entry:1", "ticket_entry:2"]
    assert room.heard(BOSS) == [AlarmNotification.RAISED]
    assert await alarms(room) == [AlarmKind.ROOM_LOST]


async def test_the_alarm_is_over_with_the_first_message_that_reaches_the_group_again(room: Room) -> None:
    ticket = await room.opens()
    room.ears.outcomes[GROUP] = deque([KICKED])
    await writes_in(room, ticket)
    await room.tells()
    await writes_in(room, ticket, 2)
    await room.tells()
    assert room.heard(BOSS) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]
    assert await alarms(room) == []
    assert room.heard(RINA) == ["ticket_entry:1"]


async def test_one_message_that_is_refused_reaches_support_all_the_same_and_is_no_alarm(room: Room) -> None:
    ticket = await room.opens()
    room.ears.outcomes[GROUP] = deque([Undeliverable("Bad Request: can't parse entities")])
    await writes_in(room, ticket)
    await room.tells()
    assert room.heard(RINA) == room.heard(OSCAR) == ["ticket_entry:1"]
    assert await alarms(room) == []


async def test_a_supporter_who_has_blocked_the_bot_starts_no_circle(room: Room) -> None:
    ticket = await room.opens()
    room.ears.outcomes[GROUP] = deque([KICKED])
    room.ears.outcomes[RINA] = deque([KICKED])
    await writes_in(room, ticket)
    await room.tells()
    assert (room.heard(RINA), room.heard(OSCAR)) == ([], ["ticket_entry:1"])


async def test_a_group_that_has_moved_is_told_at_its_new_id_and_nothing_twice(room: Room) -> None:
    ticket = await room.opens()
    room.ears.outcomes[GROUP] = deque([ChatMoved("moved", whole_chat=True, new_chat_id=NEW_GROUP)])
    await writes_in(room, ticket)
    await writes_in(room, ticket, 2)
    await room.tells()
    assert room.heard(NEW_GROUP) == ["ticket_entry:1", "ticket_entry:2"]
    assert room.heard(GROUP) == room.heard(RINA) == room.heard(BOSS) == []
    async with room.store.reading() as tx:
        assert await room.room.chats(tx) == (NEW_GROUP,)
    await writes_in(room, ticket, 3)
    await room.tells()
    assert room.heard(NEW_GROUP)[-1] == "ticket_entry:3"


async def test_what_stands_there_of_a_ticket_that_is_gone_is_not_remembered(room: Room) -> None:
    ticket = await room.opens()
    gone = Ticket(reference="T-22222", user_id=EMMA, created_at=room.clock.now())
    async with room.store.transaction() as tx:
        entry = UserEntry(gone.reference, 1)
        await notify_staff(tx, room.room, StaffNotification.ENTRY, entry, room.clock.now(), mark="1")
    await writes_in(room, ticket)
    await room.tells()
    assert room.heard(GROUP) == ["ticket_entry:1", "ticket_entry:1"]
    assert await remembered(room, (GROUP, 1), (GROUP, 2)) == [(GROUP, PostRole.ENTRY, 1, None)]

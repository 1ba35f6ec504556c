"""Messages in the staff's group are saved. If the group is lost, its notifications go to each agent."""

from collections import deque
from collections.abc import AsyncIterator

import pytest

from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import ChatMoved, Sent, Undeliverable
from bot.staff.model import AlarmKind
from bot.staff.notifications import AlarmNotification
from bot.staff.repository import AlarmRepository
from bot.support.model import BotMessageRole, EntryKind, Ticket, TicketEntry
from bot.support.notifications import AboutTicket, StaffNotification, notify_staff
from bot.support.repository import BotMessageRepository, TicketEntryRepository
from bot.support.topics import move_group
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_system import EMMA, GROUP, OSCAR, RINA, TicketSystem

KICKED = Undeliverable("Forbidden: bot was kicked from the supergroup chat", whole_chat=True)
BOSS, NEW_GROUP = 2002, -1_002_000
Saved = list[tuple[int, BotMessageRole, int, int | None]]


@pytest.fixture
async def system(file: str) -> AsyncIterator[TicketSystem]:
    """A system with a group, whose messages are saved with their tickets."""
    clock = MovedClock()
    made = TicketSystem(file, clock)
    follow_ups = made.messages_to_staff(operator_ids=frozenset({BOSS})).follow_ups()
    made.delivery = OutboxDelivery(made.store, made.sender, clock, follow_ups=follow_ups, on_chat_moved=(move_group,))
    yield made
    await made.store.close()


async def add_user_entry(system: TicketSystem, ticket: Ticket, number: int = 1) -> None:
    """Save a user's entry with its notification."""
    now = system.clock.now()
    async with system.store.transaction() as tx:
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
        entry = AboutTicket(ticket.reference, number)
        await notify_staff(tx, system.staff_chat, StaffNotification.ENTRY, entry, now, number)


async def saved_messages(system: TicketSystem, *messages: tuple[int, int]) -> Saved:
    """Return what is saved of these messages."""
    async with system.store.reading() as tx:
        found = [await BotMessageRepository(tx).get(*message) for message in messages]
    return [(each.chat_id, each.role, each.entry, each.topic_id) for each in found if each is not None]


async def alarms(system: TicketSystem) -> list[AlarmKind]:
    """Return the kinds of the raised alarms."""
    async with system.store.reading() as tx:
        return [alarm.kind for alarm in await AlarmRepository(tx).find_open()]


async def test_what_the_user_wrote_can_be_answered_where_it_stands(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    system.sender.outcomes[GROUP] = deque([Sent(77, topic_id=5)])
    await add_user_entry(system, ticket)
    await system.deliver()
    assert await saved_messages(system, (GROUP, 77)) == [(GROUP, BotMessageRole.ENTRY, 1, 5)]


async def test_a_group_that_is_lost_notifies_each_agent_and_raises_one_alarm(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    system.sender.outcomes[GROUP] = deque([KICKED] * 3)
    async with system.store.transaction() as tx:
        about = AboutTicket(ticket.reference)
        await notify_staff(tx, system.staff_chat, StaffNotification.NEW_CARD, about, system.clock.now())
    await add_user_entry(system, ticket)
    await system.deliver()
    await add_user_entry(system, ticket, 2)
    await system.deliver()
    for supporter in (OSCAR, RINA):
        assert system.kinds_sent_to(supporter) == [StaffNotification.NEW_CARD, "ticket_entry:1", "ticket_entry:2"]
    assert system.kinds_sent_to(BOSS) == [AlarmNotification.RAISED]
    assert await alarms(system) == [AlarmKind.STAFF_CHAT_LOST]


async def test_the_alarm_is_over_with_the_first_message_that_reaches_the_group_again(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    system.sender.outcomes[GROUP] = deque([KICKED])
    await add_user_entry(system, ticket)
    await system.deliver()
    await add_user_entry(system, ticket, 2)
    await system.deliver()
    assert system.kinds_sent_to(BOSS) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]
    assert await alarms(system) == []
    assert system.kinds_sent_to(RINA) == ["ticket_entry:1"]


async def test_one_message_that_is_refused_reaches_support_all_the_same_and_is_no_alarm(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    system.sender.outcomes[GROUP] = deque([Undeliverable("Bad Request: can't parse entities")])
    await add_user_entry(system, ticket)
    await system.deliver()
    assert system.kinds_sent_to(RINA) == system.kinds_sent_to(OSCAR) == ["ticket_entry:1"]
    assert await alarms(system) == []


async def test_a_supporter_who_has_blocked_the_bot_starts_no_circle(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    system.sender.outcomes[GROUP] = deque([KICKED])
    system.sender.outcomes[RINA] = deque([KICKED])
    await add_user_entry(system, ticket)
    await system.deliver()
    assert (system.kinds_sent_to(RINA), system.kinds_sent_to(OSCAR)) == ([], ["ticket_entry:1"])


async def test_a_group_that_has_moved_is_told_at_its_new_id_and_nothing_twice(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    system.sender.outcomes[GROUP] = deque([ChatMoved("moved", whole_chat=True, new_chat_id=NEW_GROUP)])
    await add_user_entry(system, ticket)
    await add_user_entry(system, ticket, 2)
    await system.deliver()
    assert system.kinds_sent_to(NEW_GROUP) == ["ticket_entry:1", "ticket_entry:2"]
    assert system.kinds_sent_to(GROUP) == system.kinds_sent_to(RINA) == system.kinds_sent_to(BOSS) == []
    async with system.store.reading() as tx:
        assert await system.staff_chat.chats(tx) == (NEW_GROUP,)
    await add_user_entry(system, ticket, 3)
    await system.deliver()
    assert system.kinds_sent_to(NEW_GROUP)[-1] == "ticket_entry:3"


async def test_what_stands_there_of_a_ticket_that_is_gone_is_not_remembered(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    gone = Ticket(reference="T-22222", user_id=EMMA, created_at=system.clock.now())
    async with system.store.transaction() as tx:
        entry = AboutTicket(gone.reference, 1)
        await notify_staff(tx, system.staff_chat, StaffNotification.ENTRY, entry, system.clock.now(), 1)
    await add_user_entry(system, ticket)
    await system.deliver()
    assert system.kinds_sent_to(GROUP) == ["ticket_entry:1", "ticket_entry:1"]
    assert await saved_messages(system, (GROUP, 1), (GROUP, 2)) == [(GROUP, BotMessageRole.ENTRY, 1, None)]

"""Somebody waits: support hears of it, then the operators, each once, whatever crashes or is answered meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from bot.support.ticket import CloseReason, Ticket
from bot.support.tickets.reminders import TicketReminders
from bot.support.tickets.repository import TicketRepository
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_world import GROUP, OSCAR, RINA, SARI, Room

PATIENCE = timedelta(minutes=15)
BUDI = 2002


@pytest.fixture
async def room(file: str) -> AsyncIterator[Room]:
    made = Room(file, MovedClock())
    yield made
    await made.store.close()


def waiting_in(room: Room) -> TicketReminders:
    return TicketReminders(
        room.store, room.clock, room.room, operator_ids=frozenset({OSCAR, BUDI}), remind_after=PATIENCE
    )


async def passes(room: Room, waiting: TicketReminders, **span: float) -> int:
    """Time goes by; of how many tickets it was reminded then."""
    room.clock.passes(**span)
    found = await waiting.remind()
    await room.tells()
    return found


async def test_the_room_hears_first_and_the_operators_as_long_after(room: Room) -> None:
    await room.opens()
    waiting = waiting_in(room)
    assert await passes(room, waiting, minutes=14) == 0
    assert await passes(room, waiting, minutes=1) == 1
    assert [len(room.heard(chat, "ticket_waits")) for chat in (GROUP, OSCAR, BUDI)] == [1, 0, 0]
    assert await passes(room, waiting, minutes=14) == 0
    assert await passes(room, waiting, minutes=1) == 1
    assert [len(room.heard(chat, "ticket_waits")) for chat in (GROUP, OSCAR, BUDI)] == [1, 1, 1]
    assert room.heard(BUDI)[0].startswith("ticket_waits_long:")
    assert await passes(room, waiting, days=3) == 0


async def test_without_a_group_each_supporter_is_reminded(file: str) -> None:
    room = Room(file, MovedClock(), group=0)
    await room.opens()
    await passes(room, waiting_in(room), minutes=15)
    assert [len(room.heard(chat, "ticket_waits:")) for chat in (RINA, OSCAR, BUDI)] == [1, 1, 0]
    await room.store.close()


async def test_a_bot_that_was_away_for_long_reminds_support_before_it_tells_the_operators(room: Room) -> None:
    await room.opens()
    waiting = waiting_in(room)
    assert await passes(room, waiting, hours=9) == 1
    assert (len(room.heard(GROUP, "ticket_waits")), room.heard(OSCAR)) == (1, [])
    assert await passes(room, waiting, minutes=15) == 1
    assert len(room.heard(OSCAR)) == 1


async def test_an_answer_ends_the_wait_and_the_next_word_begins_one_that_is_told_again(room: Room) -> None:
    ticket = await room.opens()
    waiting = waiting_in(room)
    await passes(room, waiting, minutes=15)
    await room.answered(ticket)
    assert await passes(room, waiting, hours=2) == 0
    await asks_again(room, ticket)
    assert await passes(room, waiting, minutes=14) == 0
    assert await passes(room, waiting, minutes=1) == 1
    assert len(set(room.heard(GROUP, "ticket_waits:"))) == 2


async def test_what_is_closed_reminds_nobody(room: Room) -> None:
    ticket, other = await room.opens(), await room.opens(SARI)
    await room.answers.close(ticket.reference, RINA, CloseReason.SOLVED)
    assert await passes(room, waiting_in(room), hours=1) == 1
    assert [each.subject for each in room.ears.heard if each.kind.startswith("ticket_waits")] == [
        f"ticket:{other.reference}"
    ]


async def test_two_looks_at_once_tell_it_once(room: Room) -> None:
    await room.opens()
    room.clock.passes(minutes=15)
    looks = await asyncio.gather(*(waiting_in(room).remind() for _ in range(5)))
    await room.tells()
    assert sum(looks) == 1
    assert len(room.heard(GROUP, "ticket_waits")) == 1


async def test_a_reminder_that_is_not_kept_is_not_told_and_the_next_look_tells_it(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = await room.opens()
    waiting = waiting_in(room)
    room.clock.passes(minutes=15)
    with monkeypatch.context() as broken:
        broken.setattr("bot.support.tickets.reminders.notify_chats", crash)
        with pytest.raises(ZeroDivisionError):
            await waiting.remind()
    assert (await room.now(ticket)).reminded_at is None
    assert await passes(room, waiting) == 1
    assert len(room.heard(GROUP, "ticket_waits")) == 1


async def crash(*_: object, **__: object) -> None:
    raise ZeroDivisionError


async def asks_again(room: Room, ticket: Ticket) -> None:
    async with room.store.transaction() as tx:
        await TicketRepository(tx).save((await room.now(ticket)).add_message(room.clock.now()))

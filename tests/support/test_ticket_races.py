"""Simultaneous changes of a ticket: one wins if only one can, and nothing is lost, on both databases."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.core.errors import Rejection
from bot.support.model import CloseReason, EntryKind, IncomingMessage, Ticket, TicketEntry
from bot.support.service import add_entry
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_system import EMMA, OSCAR, RINA, TicketSystem

MANY = 8


@pytest.fixture
async def system(database: str) -> AsyncIterator[TicketSystem]:
    made = TicketSystem(database, MovedClock())
    yield made
    await made.store.close()


@pytest.fixture
async def ticket(system: TicketSystem) -> Ticket:
    return await system.open_ticket()


async def test_of_two_who_claim_in_the_same_moment_one_holds_it_and_the_other_is_refused(
    system: TicketSystem, ticket: Ticket
) -> None:
    done = await asyncio.gather(
        *(system.tickets.claim(ticket.reference, by) for by in (RINA, OSCAR)), return_exceptions=True
    )
    held, refused = sorted(done, key=lambda each: isinstance(each, Rejection))
    assert isinstance(held, Ticket)
    assert isinstance(refused, Rejection)
    assert (await system.reload(ticket)).claimed_by == held.claimed_by
    assert len(await system.audit_entries()) == 1


async def test_words_from_both_sides_in_the_same_moment_are_all_kept_each_under_its_own_number(
    system: TicketSystem, ticket: Ticket
) -> None:
    async def says(number: int) -> TicketEntry | None:
        words = IncomingMessage(chat_id=EMMA, message_id=number, text=str(number))
        async with system.store.transaction() as tx:
            return await add_entry(tx, ticket, words, EntryKind.ASKED, by=EMMA, now=system.clock.now())

    done = await asyncio.gather(
        *(says(number) for number in range(MANY)),
        *(system.tickets.reply(ticket.reference, RINA, system.new_message()) for _ in range(MANY)),
    )
    assert sorted(entry.number for entry in done if entry) == list(range(1, 2 * MANY + 1))
    assert [entry.number for entry in await system.entries(ticket)] == list(range(1, 2 * MANY + 1))


async def test_one_message_that_is_met_twice_in_the_same_moment_is_one_answer(
    system: TicketSystem, ticket: Ticket
) -> None:
    written = system.new_message()
    done = await asyncio.gather(*(system.tickets.reply(ticket.reference, RINA, written) for _ in range(MANY)))
    assert [entry.number for entry in done if entry] == [1]
    await system.deliver()
    assert system.kinds_sent_to(EMMA) == ["ticket_reply:1"]


async def test_closing_and_answering_in_the_same_moment_leave_no_answer_behind_a_closed_door(
    system: TicketSystem, ticket: Ticket
) -> None:
    await system.tickets.claim(ticket.reference, RINA)
    closed, answer = await asyncio.gather(
        system.tickets.close(ticket.reference, RINA, CloseReason.SOLVED),
        system.tickets.reply(ticket.reference, RINA, system.new_message()),
        return_exceptions=True,
    )
    assert isinstance(closed, Ticket)
    await system.deliver()
    told = system.kinds_sent_to(EMMA)
    if isinstance(answer, Rejection):
        assert told == [f"ticket_closed:{closed.version}"]
    else:
        assert told[0] == "ticket_reply:1"
    assert not (await system.reload(ticket)).is_open

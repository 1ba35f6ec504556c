"""Support and then operators are reminded of a waiting ticket, each once, also after crashes."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from bot.infra.db.errors import StoreDown
from bot.support import service
from bot.support.model import CloseReason, Ticket
from bot.support.repository import TicketRepository
from bot.support.service import TicketReminderService
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_system import GROUP, OSCAR, RINA, SARI, TicketSystem

REMIND_AFTER = timedelta(minutes=15)
BUDI = 2002


@pytest.fixture
async def system(file: str) -> AsyncIterator[TicketSystem]:
    made = TicketSystem(file, MovedClock())
    yield made
    await made.store.close()


def reminders_of(system: TicketSystem) -> TicketReminderService:
    return TicketReminderService(
        system.store,
        system.clock,
        system.staff_chat,
        operator_ids=frozenset({OSCAR, BUDI}),
        remind_after=REMIND_AFTER,
    )


async def remind_after_time(system: TicketSystem, waiting: TicketReminderService, **span: float) -> int:
    """Let time pass, and return of how many tickets the bot reminded."""
    system.clock.passes(**span)
    found = await waiting.remind()
    await system.deliver()
    return found


async def test_support_is_reminded_first_and_the_operators_as_long_after(system: TicketSystem) -> None:
    await system.open_ticket()
    waiting = reminders_of(system)
    assert await remind_after_time(system, waiting, minutes=14) == 0
    assert await remind_after_time(system, waiting, minutes=1) == 1
    assert [len(system.kinds_sent_to(chat, "ticket_waits")) for chat in (GROUP, OSCAR, BUDI)] == [1, 0, 0]
    assert await remind_after_time(system, waiting, minutes=14) == 0
    assert await remind_after_time(system, waiting, minutes=1) == 1
    assert [len(system.kinds_sent_to(chat, "ticket_waits")) for chat in (GROUP, OSCAR, BUDI)] == [1, 1, 1]
    assert system.kinds_sent_to(BUDI)[0].startswith("ticket_waits_long:")
    assert await remind_after_time(system, waiting, days=3) == 0


async def test_without_a_group_each_supporter_is_reminded(file: str) -> None:
    system = TicketSystem(file, MovedClock(), group=0)
    await system.open_ticket()
    await remind_after_time(system, reminders_of(system), minutes=15)
    assert [len(system.kinds_sent_to(chat, "ticket_waits:")) for chat in (RINA, OSCAR, BUDI)] == [1, 1, 0]
    await system.store.close()


async def test_a_bot_that_was_away_for_long_reminds_support_before_it_tells_the_operators(system: TicketSystem) -> None:
    await system.open_ticket()
    waiting = reminders_of(system)
    assert await remind_after_time(system, waiting, hours=9) == 1
    assert (len(system.kinds_sent_to(GROUP, "ticket_waits")), system.kinds_sent_to(OSCAR)) == (1, [])
    assert await remind_after_time(system, waiting, minutes=15) == 1
    assert len(system.kinds_sent_to(OSCAR)) == 1


async def test_an_answer_ends_the_wait_and_the_next_word_begins_one_that_is_told_again(system: TicketSystem) -> None:
    ticket = await system.open_ticket()
    waiting = reminders_of(system)
    await remind_after_time(system, waiting, minutes=15)
    await system.reply(ticket)
    assert await remind_after_time(system, waiting, hours=2) == 0
    await asks_again(system, ticket)
    assert await remind_after_time(system, waiting, minutes=14) == 0
    assert await remind_after_time(system, waiting, minutes=1) == 1
    assert len(set(system.kinds_sent_to(GROUP, "ticket_waits:"))) == 2


async def test_what_is_closed_reminds_nobody(system: TicketSystem) -> None:
    ticket, other = await system.open_ticket(), await system.open_ticket(SARI)
    await system.tickets.close(ticket.reference, RINA, CloseReason.SOLVED)
    assert await remind_after_time(system, reminders_of(system), hours=1) == 1
    assert [each.subject for each in system.sender.sent if each.kind.startswith("ticket_waits")] == [
        f"ticket:{other.reference}"
    ]


async def test_two_looks_at_once_tell_it_once(system: TicketSystem) -> None:
    await system.open_ticket()
    system.clock.passes(minutes=15)
    looks = await asyncio.gather(*(reminders_of(system).remind() for _ in range(5)))
    await system.deliver()
    assert sum(looks) == 1
    assert len(system.kinds_sent_to(GROUP, "ticket_waits")) == 1


async def test_a_reminder_that_is_not_kept_is_not_told_and_the_next_look_tells_it(
    system: TicketSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = await system.open_ticket()
    waiting = reminders_of(system)
    system.clock.passes(minutes=15)
    with monkeypatch.context() as broken:
        broken.setattr("bot.support.service.notify", crash)
        with pytest.raises(ZeroDivisionError):
            await waiting.remind()
    assert (await system.reload(ticket)).reminded_at is None
    assert await remind_after_time(system, waiting) == 1
    assert len(system.kinds_sent_to(GROUP, "ticket_waits")) == 1


async def crash(*_: object, **__: object) -> None:
    raise ZeroDivisionError


async def asks_again(system: TicketSystem, ticket: Ticket) -> None:
    async with system.store.transaction() as tx:
        await TicketRepository(tx).save((await system.reload(ticket)).add_message(system.clock.now()))


async def test_one_ticket_that_fails_stops_no_other_reminder(
    system: TicketSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, _ = await system.open_ticket(), await system.open_ticket(SARI + 50)
    changes = service.record_reminder

    def fail(ticket: Ticket, *more: Any) -> Ticket:
        if ticket.reference == bad.reference:
            raise StoreDown
        return changes(ticket, *more)

    monkeypatch.setattr(service, "record_reminder", fail)
    assert await remind_after_time(system, reminders_of(system), minutes=15) == 1
    assert len(system.kinds_sent_to(GROUP, "ticket_waits")) == 1

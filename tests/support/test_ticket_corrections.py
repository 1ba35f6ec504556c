"""Edits reach everyone who has seen the message, and a withdrawn reply is deleted."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.core.errors import Rejection
from bot.infra.outbox.model import RetryLater, Sent, Undeliverable
from bot.infra.outbox.repository import OutboxRepository
from bot.support.model import EntryKind, IncomingMessage, Ticket, TicketEntry
from bot.support.notifications import EDITED
from bot.support.service import add_entry
from bot.support.user_messages import MAYBE_ARRIVED
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_system import EMMA, GROUP, OSCAR, RINA, TicketSystem


@pytest.fixture
async def system(file: str) -> AsyncIterator[TicketSystem]:
    made = TicketSystem(file, MovedClock())
    yield made
    await made.store.close()


@pytest.fixture
async def ticket(system: TicketSystem) -> Ticket:
    return await system.open_ticket()


@pytest.fixture
async def answer(system: TicketSystem, ticket: Ticket) -> TicketEntry:
    """A delivered reply of Rina to Emma."""
    entry = await system.reply(ticket)
    await system.deliver()
    return await system.reload_entry(entry)


def corrected(entry: TicketEntry, text: str = "It arrives tomorrow.") -> IncomingMessage:
    return IncomingMessage(chat_id=entry.source_chat_id, message_id=entry.source_message_id, text=text)


async def test_a_corrected_answer_is_corrected_for_its_user(system: TicketSystem, answer: TicketEntry) -> None:
    system.sender.outcomes[EMMA].append(Sent(answer.message_id))
    assert await system.tickets.edit(answer, RINA, corrected(answer))
    await system.deliver()
    now = await system.reload_entry(answer)
    assert (now.text, now.edited_at, now.message_id) == (
        "It arrives tomorrow.",
        system.clock.now(),
        answer.message_id,
    )
    assert [kind.partition(":")[0] for kind in system.kinds_sent_to(EMMA)] == ["ticket_reply", "ticket_reply_edited"]
    assert "corrected" in system.kinds_sent_to(GROUP)[-1]


async def test_a_correction_that_changes_nothing_is_told_to_nobody(system: TicketSystem, answer: TicketEntry) -> None:
    assert not await system.tickets.edit(answer, RINA, corrected(answer, answer.text or ""))
    await system.deliver()
    assert system.kinds_sent_to(EMMA, "ticket_reply_edited") == []


async def test_a_correction_that_had_to_be_sent_anew_is_the_answer_from_then_on(
    system: TicketSystem, answer: TicketEntry
) -> None:
    system.sender.outcomes[EMMA].append(Sent(900))
    await system.tickets.edit(answer, RINA, corrected(answer))
    await system.deliver()
    assert (await system.reload_entry(answer)).message_id == 900


async def test_a_user_s_own_correction_reaches_the_room_and_pings_who_holds_the_ticket(
    system: TicketSystem, ticket: Ticket
) -> None:
    await system.tickets.claim(ticket.reference, RINA)
    asked = IncomingMessage(chat_id=EMMA, message_id=7, text="Where is it?")
    async with system.store.transaction() as tx:
        entry = await add_entry(tx, ticket, asked, EntryKind.ASKED, by=EMMA, now=system.clock.now())
    assert entry is not None
    assert await system.tickets.edit(entry, EMMA, replace(asked, text="Where is my money?"))
    async with system.store.reading() as tx:
        notifications = [
            each for each in await OutboxRepository(tx).find_unsent(GROUP) if each.kind.startswith("ticket_entry")
        ]
    (edited,) = [each.payload for each in notifications]
    assert (edited["ticket"], edited["entry"], edited["what"], edited["who"]) == (ticket.reference, 1, EDITED, RINA)
    assert [entry.action for entry in await system.audit_entries()] == ["claimed"]


async def test_a_corrected_note_stays_among_support(system: TicketSystem, ticket: Ticket) -> None:
    note = await system.tickets.add_note(ticket.reference, RINA, system.new_message("Called the bank"))
    assert note is not None
    assert await system.tickets.edit(note, RINA, corrected(note, "Called the bank twice"))
    await system.deliver()
    assert (await system.reload_entry(note)).text == "Called the bank twice"
    assert system.kinds_sent_to(EMMA) == []


@pytest.mark.parametrize(
    ("told_as", "remark"),
    [
        (Sent(901), "taken_back"),  # deleted, with a message in its place
        (None, "blanked"),  # the reply's own message
        (Undeliverable("Forbidden: bot was blocked by the user", whole_chat=True), "taking_back_failed"),
    ],
    ids=["deleted", "too old to be deleted", "blocked"],
)
async def test_what_became_of_an_answer_that_is_taken_back_is_told_as_it_is(
    system: TicketSystem, answer: TicketEntry, told_as: Sent | Undeliverable | None, remark: str
) -> None:
    system.sender.outcomes[EMMA].append(told_as or Sent(answer.message_id))
    assert await system.tickets.withdraw(answer, RINA)
    assert not await system.tickets.withdraw(answer, RINA)
    await system.deliver()
    assert system.kinds_sent_to(GROUP)[-1] == f"ticket_line:{remark}.1.1"


async def test_an_answer_that_is_taken_back_before_it_was_sent_was_never_there(
    system: TicketSystem, ticket: Ticket
) -> None:
    system.sender.outcomes[EMMA].append(RetryLater(60))
    entry = await system.reply(ticket)
    await system.deliver()
    assert await system.tickets.withdraw(entry, RINA)
    system.clock.passes(minutes=2)
    # The renderer of replies sees the withdrawal, and sends nothing.
    system.sender.outcomes[EMMA].extend([Undeliverable("taken back"), Sent(None)])
    await system.deliver()
    assert system.kinds_sent_to(GROUP, "ticket_line") == ["ticket_line:unsent.1.1"]


async def test_nobody_claims_that_an_answer_never_arrived_that_may_have(system: TicketSystem, ticket: Ticket) -> None:
    entry = await system.reply(ticket)
    await system.tickets.withdraw(entry, RINA)
    system.sender.outcomes[EMMA].extend([Undeliverable(MAYBE_ARRIVED), Sent(None)])
    await system.deliver()
    assert system.kinds_sent_to(GROUP, "ticket_line") == ["ticket_line:maybe_sent.1.1"]


async def test_only_its_author_takes_an_answer_back_and_notes_are_none(
    system: TicketSystem, ticket: Ticket, answer: TicketEntry
) -> None:
    with pytest.raises(Rejection, match=r"support\.unsend\.not_author"):
        await system.tickets.withdraw(answer, OSCAR)
    note = await system.tickets.add_note(ticket.reference, RINA, system.new_message("Called the bank"))
    assert note is not None
    with pytest.raises(Rejection, match=r"support\.unsend\.no_reply"):
        await system.tickets.withdraw(note, RINA)


async def test_what_was_taken_back_can_not_be_corrected(system: TicketSystem, answer: TicketEntry) -> None:
    await system.tickets.withdraw(answer, RINA)
    with pytest.raises(Rejection, match=r"support\.unsend\.already"):
        await system.tickets.edit(answer, RINA, corrected(answer))

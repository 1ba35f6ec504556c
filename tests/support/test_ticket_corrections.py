"""What was written and is changed afterwards: corrections reach whoever has seen it, and what is taken back is gone."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.core.errors import Rejection
from bot.infra.outbox.model import RetryLater, Sent, Undeliverable
from bot.infra.outbox.repository import OutboxRepository
from bot.support.model import EntryKind, IncomingMessage, TicketEntry
from bot.support.notifications.reply_results import MAYBE_ARRIVED
from bot.support.ticket import Ticket
from bot.support.tickets.service import add_entry
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_world import EMMA, GROUP, OSCAR, RINA, Room


@pytest.fixture
async def room(file: str) -> AsyncIterator[Room]:
    made = Room(file, MovedClock())
    yield made
    await made.store.close()


@pytest.fixture
async def ticket(room: Room) -> Ticket:
    return await room.opens()


@pytest.fixture
async def answer(room: Room, ticket: Ticket) -> TicketEntry:
    """One of Rina's that Emma has got."""
    entry = await room.answered(ticket)
    await room.tells()
    return await room.entry(entry)


def corrected(entry: TicketEntry, text: str = "It arrives tomorrow.") -> IncomingMessage:
    return IncomingMessage(chat_id=entry.source_chat_id, message_id=entry.source_message_id, text=text)


async def test_a_corrected_answer_is_corrected_for_its_user(room: Room, answer: TicketEntry) -> None:
    room.ears.outcomes[EMMA].append(Sent(answer.message_id))
    assert await room.corrections.edit(answer, RINA, corrected(answer))
    await room.tells()
    now = await room.entry(answer)
    assert (now.text, now.edited_at, now.message_id) == (
        "It arrives tomorrow.",
        room.clock.now(),
        answer.message_id,
    )
    assert [kind.partition(":")[0] for kind in room.heard(EMMA)] == ["ticket_reply", "ticket_reply_edited"]
    assert "corrected" in room.heard(GROUP)[-1]


async def test_a_correction_that_changes_nothing_is_told_to_nobody(room: Room, answer: TicketEntry) -> None:
    assert not await room.corrections.edit(answer, RINA, corrected(answer, answer.text or ""))
    await room.tells()
    assert room.heard(EMMA, "ticket_reply_edited") == []


async def test_a_correction_that_had_to_be_sent_anew_is_the_answer_from_then_on(
    room: Room, answer: TicketEntry
) -> None:
    room.ears.outcomes[EMMA].append(Sent(900))
    await room.corrections.edit(answer, RINA, corrected(answer))
    await room.tells()
    assert (await room.entry(answer)).message_id == 900


async def test_a_user_s_own_correction_reaches_the_room_and_pings_who_holds_the_ticket(
    room: Room, ticket: Ticket
) -> None:
    await room.answers.claim(ticket.reference, RINA)
    asked = IncomingMessage(chat_id=EMMA, message_id=7, text="Where is it?")
    async with room.store.transaction() as tx:
        entry = await add_entry(tx, ticket, asked, EntryKind.ASKED, by=EMMA, now=room.clock.now())
    assert entry is not None
    assert await room.corrections.edit(entry, EMMA, replace(asked, text="Where is my money?"))
    async with room.store.reading() as tx:
        notifications = [
            each for each in await OutboxRepository(tx).to_tell_in(GROUP) if each.kind.startswith("ticket_entry_edited")
        ]
    assert [each.payload for each in notifications] == [{"ticket": ticket.reference, "entry": 1, "ping": RINA}]
    assert [entry.action for entry in await room.trail()] == ["claimed"]


async def test_a_corrected_note_stays_among_support(room: Room, ticket: Ticket) -> None:
    note = await room.answers.add_note(ticket.reference, RINA, room.writes("Called the bank"))
    assert note is not None
    assert await room.corrections.edit(note, RINA, corrected(note, "Called the bank twice"))
    await room.tells()
    assert (await room.entry(note)).text == "Called the bank twice"
    assert room.heard(EMMA) == []


@pytest.mark.parametrize(
    ("told_as", "remark"),
    [
        (Sent(901), "taken_back"),  # deleted, and a word about that in its place
        (None, "blanked"),  # the answer's own message
        (Undeliverable("Forbidden: bot was blocked by the user", whole_chat=True), "taking_back_failed"),
    ],
    ids=["deleted", "too old to be deleted", "blocked"],
)
async def test_what_became_of_an_answer_that_is_taken_back_is_told_as_it_is(
    room: Room, answer: TicketEntry, told_as: Sent | Undeliverable | None, remark: str
) -> None:
    room.ears.outcomes[EMMA].append(told_as or Sent(answer.message_id))
    assert await room.corrections.withdraw(answer, RINA)
    assert not await room.corrections.withdraw(answer, RINA)
    await room.tells()
    assert room.heard(GROUP)[-1] == f"ticket_remark:{remark}.1.1"


async def test_an_answer_that_is_taken_back_before_it_was_sent_was_never_there(room: Room, ticket: Ticket) -> None:
    room.ears.outcomes[EMMA].append(RetryLater(60))
    entry = await room.answered(ticket)
    await room.tells()
    assert await room.corrections.withdraw(entry, RINA)
    room.clock.passes(minutes=2)
    # What tells answers knows of the withdrawal, and sends none.
    room.ears.outcomes[EMMA].extend([Undeliverable("taken back"), Sent(None)])
    await room.tells()
    assert room.heard(GROUP, "ticket_remark") == ["ticket_remark:unsent.1.1"]


async def test_nobody_claims_that_an_answer_never_arrived_that_may_have(room: Room, ticket: Ticket) -> None:
    entry = await room.answered(ticket)
    await room.corrections.withdraw(entry, RINA)
    room.ears.outcomes[EMMA].extend([Undeliverable(MAYBE_ARRIVED), Sent(None)])
    await room.tells()
    assert room.heard(GROUP, "ticket_remark") == ["ticket_remark:maybe_sent.1.1"]


async def test_only_its_author_takes_an_answer_back_and_notes_are_none(
    room: Room, ticket: Ticket, answer: TicketEntry
) -> None:
    with pytest.raises(Rejection, match=r"ticket\.answer_of_another"):
        await room.corrections.withdraw(answer, OSCAR)
    note = await room.answers.add_note(ticket.reference, RINA, room.writes("Called the bank"))
    assert note is not None
    with pytest.raises(Rejection, match=r"ticket\.no_answer"):
        await room.corrections.withdraw(note, RINA)


async def test_what_was_taken_back_can_not_be_corrected(room: Room, answer: TicketEntry) -> None:
    await room.corrections.withdraw(answer, RINA)
    with pytest.raises(Rejection, match=r"ticket\.taken_back_already"):
        await room.corrections.edit(answer, RINA, corrected(answer))

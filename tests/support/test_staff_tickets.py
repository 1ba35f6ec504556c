"""What agents do with tickets: one agent holds a ticket, and a reply is sent once with its true result."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from bot.core.errors import Rejection
from bot.infra.outbox.model import Sent, Undeliverable
from bot.staff.model import AuditAction
from bot.support.model import CloseReason, Ticket, TicketStatus
from bot.support.repository import BotMessageRepository
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_system import EMMA, GROUP, OSCAR, RINA, TicketSystem

BLOCKED = Undeliverable("Forbidden: bot was blocked by the user", whole_chat=True)


@pytest.fixture
async def system(file: str) -> AsyncIterator[TicketSystem]:
    made = TicketSystem(file, MovedClock())
    yield made
    await made.store.close()


@pytest.fixture
async def systems(file: str) -> AsyncIterator[TicketSystem]:
    """A system without a group: each agent works in private."""
    made = TicketSystem(file, MovedClock(), group=0)
    yield made
    await made.store.close()


@pytest.fixture
async def ticket(system: TicketSystem) -> Ticket:
    return await system.open_ticket()


async def test_who_claims_first_holds_it_and_a_second_tap_changes_nothing(system: TicketSystem, ticket: Ticket) -> None:
    held = await system.tickets.claim(ticket.reference, RINA)
    assert await system.tickets.claim(ticket.reference, RINA) == held
    with pytest.raises(Rejection, match=r"support\.ticket\.held_by_another"):
        await system.tickets.claim(ticket.reference, OSCAR)
    assert (await system.reload(ticket)).claimed_by == RINA
    assert [(entry.action, entry.actor_id) for entry in await system.audit_entries()] == [(AuditAction.CLAIMED, RINA)]
    await system.deliver()
    assert system.kinds_sent_to(GROUP) == [f"ticket_card:{held.version}"]


async def test_a_ticket_that_is_taken_over_brings_its_note_along(system: TicketSystem, ticket: Ticket) -> None:
    await system.tickets.claim(ticket.reference, RINA)
    note = system.new_message("Rina is off today")
    taken = await system.tickets.take_over(ticket.reference, OSCAR, note)
    assert taken is not None
    assert taken.claimed_by == OSCAR
    assert [(entry.kind, entry.text) for entry in await system.entries(ticket)] == [("note", "Rina is off today")]
    assert await system.tickets.take_over(ticket.reference, OSCAR, note) is None
    await system.deliver()
    assert system.kinds_sent_to(GROUP, "ticket_line") == ["ticket_line:taken_over.1"]


async def test_an_answer_claims_what_nobody_holds_and_ends_the_wait(system: TicketSystem, ticket: Ticket) -> None:
    system.clock.passes(minutes=5)
    await system.reply(ticket)
    now = await system.reload(ticket)
    assert (now.claimed_by, now.waiting_since, now.first_reply_at) == (RINA, None, system.clock.now())


async def test_an_answer_in_a_ticket_of_another_goes_nowhere(system: TicketSystem, ticket: Ticket) -> None:
    await system.tickets.claim(ticket.reference, RINA)
    with pytest.raises(Rejection, match=r"support\.ticket\.held_by_another"):
        await system.reply(ticket, OSCAR)
    await system.deliver()
    assert await system.entries(ticket) == ()
    assert system.kinds_sent_to(EMMA) == []


async def test_an_answer_is_known_as_delivered_once_it_was_and_not_before(system: TicketSystem, ticket: Ticket) -> None:
    entry = await system.reply(ticket)
    assert ((await system.reload_entry(entry)).delivered_at, system.kinds_sent_to(GROUP)) == (None, [])
    await system.deliver()
    delivered = await system.reload_entry(entry)
    assert (delivered.delivered_at, delivered.failure) == (system.clock.now(), None)
    assert system.kinds_sent_to(EMMA) == ["ticket_reply:1"]
    assert system.kinds_sent_to(GROUP, "ticket_line") == ["ticket_line:delivered.1.1"]
    assert system.kinds_sent_to(GROUP)[-1] == "ticket_card:reply.1", "its timeline said that it was on its way"
    async with system.store.reading() as tx:
        bot_message = await BotMessageRepository(tx).get(EMMA, delivered.message_id or 0)
    assert bot_message is not None
    assert (bot_message.ticket, bot_message.role, bot_message.entry) == (ticket.reference, "entry", 1)


async def test_the_same_message_met_again_is_one_answer_even_after_the_ticket_was_closed(
    system: TicketSystem, ticket: Ticket
) -> None:
    written = system.new_message()
    assert await system.tickets.reply(ticket.reference, RINA, written) is not None
    await system.tickets.close(ticket.reference, RINA, CloseReason.SOLVED)
    assert await system.tickets.reply(ticket.reference, RINA, written) is None
    await system.deliver()
    assert system.kinds_sent_to(EMMA, "ticket_reply") == ["ticket_reply:1"]


async def test_an_answer_to_who_has_blocked_the_bot_is_told_as_failed_and_can_be_tried_again(
    system: TicketSystem, ticket: Ticket
) -> None:
    system.sender.outcomes[EMMA].append(BLOCKED)
    entry = await system.reply(ticket)
    await system.deliver()
    assert ((await system.reload_entry(entry)).failure, (await system.reload_entry(entry)).delivered_at) == (
        BLOCKED.reason,
        None,
    )
    assert system.kinds_sent_to(GROUP, "ticket_line") == ["ticket_line:failed.1.1"]
    assert await system.tickets.retry_reply(ticket.reference, RINA, 1)
    assert not await system.tickets.retry_reply(ticket.reference, RINA, 1)
    await system.deliver()
    assert (await system.reload_entry(entry)).delivered_at is not None
    assert len(system.kinds_sent_to(EMMA, "ticket_reply")) == 1


async def test_two_answers_that_wait_for_a_chat_that_is_lost_both_fail(system: TicketSystem, ticket: Ticket) -> None:
    system.sender.outcomes[EMMA].append(BLOCKED)
    first, second = await system.reply(ticket), await system.reply(ticket, text="And one more thing.")
    await system.deliver()
    assert [(await system.reload_entry(each)).failure for each in (first, second)] == [BLOCKED.reason] * 2


async def test_a_note_reaches_nobody_but_support_and_claims_nothing(systems: TicketSystem) -> None:
    ticket = await systems.open_ticket()
    assert (
        await systems.tickets.add_note(ticket.reference, RINA, systems.new_message("Called the bank", by=RINA))
        is not None
    )
    await systems.deliver()
    assert (systems.kinds_sent_to(EMMA), systems.kinds_sent_to(RINA)) == ([], [])
    assert systems.kinds_sent_to(OSCAR) == ["ticket_line:noted.1"]
    assert (await systems.reload(ticket)).claimed_by is None


async def test_without_a_group_the_others_see_what_was_answered_and_its_author_what_became_of_it(
    systems: TicketSystem,
) -> None:
    ticket = await systems.open_ticket()
    await systems.reply(ticket)
    await systems.deliver()
    assert systems.kinds_sent_to(OSCAR, "ticket_line") == ["ticket_line:replied.1"]
    assert systems.kinds_sent_to(RINA, "ticket_line") == ["ticket_line:delivered.1.1"]


async def test_closing_tells_the_user_why_and_a_closed_ticket_takes_no_answer(
    system: TicketSystem, ticket: Ticket
) -> None:
    closed = await system.tickets.close(ticket.reference, RINA, CloseReason.SOLVED)
    assert (closed.status, closed.closed_by, closed.close_reason) == (TicketStatus.CLOSED, RINA, "solved")
    with pytest.raises(Rejection, match=r"support\.ticket\.closed"):
        await system.tickets.close(ticket.reference, RINA, CloseReason.DUPLICATE)
    with pytest.raises(Rejection, match=r"support\.ticket\.closed"):
        await system.reply(ticket)
    await system.deliver()
    assert system.kinds_sent_to(EMMA) == [f"ticket_closed:{closed.version}"]


async def test_support_opens_a_closed_ticket_again_unless_another_open_about_the_same(
    system: TicketSystem, ticket: Ticket
) -> None:
    await system.tickets.close(ticket.reference, RINA, CloseReason.SOLVED)
    system.clock.at += timedelta(days=300)
    again = await system.tickets.reopen(ticket.reference, OSCAR)
    assert (again.is_open, again.claimed_by, again.reopen_count) == (True, OSCAR, 1)
    await system.tickets.close(ticket.reference, OSCAR, CloseReason.SOLVED)
    await system.open_ticket()
    with pytest.raises(Rejection, match=r"support\.ticket\.another_open"):
        await system.tickets.reopen(ticket.reference, OSCAR)


async def test_what_was_decided_meanwhile_is_seen_by_whoever_comes_second(
    file: str, system: TicketSystem, ticket: Ticket
) -> None:
    """Two agents act at once, as if in two processes."""
    other = TicketSystem(file, system.clock)
    try:
        assert (await other.tickets.claim(ticket.reference, OSCAR)).claimed_by == OSCAR
        with pytest.raises(Rejection, match=r"support\.ticket\.held_by_another"):
            await system.tickets.claim(ticket.reference, RINA)
    finally:
        await other.store.close()


async def test_the_audit_trail_names_the_ticket_and_quotes_nobody(system: TicketSystem, ticket: Ticket) -> None:
    await system.reply(ticket, text="Secret words")
    system.clock.passes(seconds=1)
    await system.tickets.add_note(ticket.reference, RINA, system.new_message("More secret words"))
    system.clock.passes(seconds=1)
    await system.tickets.close(ticket.reference, RINA, CloseReason.SOLVED)
    trail = await system.audit_entries()
    assert [(each.action, each.subject, each.user_id) for each in trail] == [
        (action, f"ticket:{ticket.reference}", EMMA)
        for action in (AuditAction.ANSWERED, AuditAction.NOTED, AuditAction.CLOSED)
    ]
    assert not any("secret" in each.detail.lower() for each in trail)


async def test_a_line_about_an_answer_can_be_replied_to_like_the_rest_of_the_ticket(
    system: TicketSystem, ticket: Ticket
) -> None:
    system.sender.outcomes[EMMA].append(BLOCKED)
    system.sender.outcomes[GROUP].extend([Sent(70), Sent(71, topic_id=9)])  # the card, then the line
    await system.reply(ticket)
    await system.deliver()
    async with system.store.reading() as tx:
        bot_message = await BotMessageRepository(tx).get(GROUP, 71)
    assert bot_message is not None
    assert (bot_message.ticket, bot_message.role, bot_message.topic_id, bot_message.entry) == (
        ticket.reference,
        "remark",
        9,
        1,
    )


async def test_a_reply_to_what_is_among_support_is_never_an_answer_to_the_user(systems: TicketSystem) -> None:
    ticket = await systems.open_ticket()
    await systems.tickets.claim(ticket.reference, RINA)
    await systems.tickets.take_over(ticket.reference, OSCAR, systems.new_message("Rina is off today", by=OSCAR))
    await systems.tickets.add_note(ticket.reference, OSCAR, systems.new_message("Called the bank", by=OSCAR))
    systems.sender.outcomes[RINA].extend([Sent(70), Sent(71), Sent(72), Sent(73)])
    await systems.deliver()
    async with systems.store.reading() as tx:
        bot_messages = [await BotMessageRepository(tx).get(RINA, message_id) for message_id in range(70, 74)]
    told = [(each.role, each.argument, each.entry) for each in bot_messages if each]
    assert told == [("question", "note:", 1), ("question", "note:", 2)]

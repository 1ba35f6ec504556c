"""An agent who has seen a hidden recipient can't pass the number on by mistake, in a reply or in an edit of one."""

from collections.abc import AsyncIterator

import pytest

from bot.core.errors import Rejection
from bot.orders.repository import OrderRepository
from bot.support.model import EntryKind, Ticket
from bot.support.service import HIDDEN_NUMBER
from tests.orders.builders import an_order
from tests.settlement.fake_settlement import MovedClock
from tests.support.ticket_system import RINA, TicketSystem

BANK, WALLET = "8620123456", "081234567890"


@pytest.fixture
async def system(file: str) -> AsyncIterator[TicketSystem]:
    made = TicketSystem(file, MovedClock())
    yield made
    await made.store.close()


async def a_ticket(system: TicketSystem, number: str, origin: str | None = "a link") -> Ticket:
    async with system.store.transaction() as tx:
        await OrderRepository(tx).add(an_order(number=number, origin=origin))
    return await system.open_ticket()


@pytest.mark.parametrize(
    ("number", "reply"),
    [
        (BANK, "It went to 8620123456."),
        (BANK, "It went to 8620 1234 56"),
        (BANK, "8620-123-456"),
        (BANK, "<code>8620</code><b>123456</b>"),
        (WALLET, "081234567890"),
        (WALLET, "+62 812-3456-7890"),
    ],
)
async def test_a_reply_with_the_whole_number_is_not_passed_on(system: TicketSystem, number: str, reply: str) -> None:
    ticket = await a_ticket(system, number)
    with pytest.raises(Rejection, match=HIDDEN_NUMBER.replace(".", r"\.")):
        await system.reply(ticket, text=reply)
    await system.deliver()
    assert system.sender.sent == []
    assert (await system.reload(ticket)).claimed_by is None


@pytest.mark.parametrize("reply", ["The account ends in 3456.", "Rp8.620, 12:34, 56", "Order R2345AB"])
async def test_other_figures_are_passed_on(system: TicketSystem, reply: str) -> None:
    ticket = await a_ticket(system, BANK)
    entry = await system.reply(ticket, text=reply)
    assert (entry.kind, entry.text) == (EntryKind.REPLY, reply)


async def test_an_edit_cannot_add_the_number_and_a_note_among_support_can_have_it(system: TicketSystem) -> None:
    ticket = await a_ticket(system, BANK)
    entry = await system.reply(ticket, text="It went to the account.")
    with pytest.raises(Rejection, match="hidden_number"):
        await system.tickets.edit(entry, RINA, system.new_message(f"It went to {BANK}."))
    assert (await system.reload_entry(entry)).text == "It went to the account."
    note = await system.tickets.add_note(ticket.reference, RINA, system.new_message(f"I saw {BANK}."))
    assert note is not None


async def test_what_was_written_in_the_conversation_is_not_passed_on_with_the_number_and_can_be_kept(
    system: TicketSystem,
) -> None:
    ticket = await a_ticket(system, BANK)
    for text in ("It went to the account.", f"To {BANK}."):
        last = await system.tickets.ask_to_send(ticket.reference, RINA, system.new_message(text))
    assert last is not None
    with pytest.raises(Rejection, match="hidden_number"):
        await system.tickets.send_undecided(ticket.reference, RINA, last.number)
    assert {entry.kind for entry in await system.entries(ticket)} == {EntryKind.UNDECIDED}
    assert (await system.reload(ticket)).claimed_by is None
    assert await system.tickets.keep_undecided(ticket.reference, RINA, last.number) == 2
    assert {entry.kind for entry in await system.entries(ticket)} == {EntryKind.NOTE}


async def test_who_typed_the_number_can_read_it_in_a_reply(system: TicketSystem) -> None:
    ticket = await a_ticket(system, BANK, origin=None)
    entry = await system.reply(ticket, text=f"It went to {BANK}.")
    assert entry.text == f"It went to {BANK}."

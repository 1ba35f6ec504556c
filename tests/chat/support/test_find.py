"""One search finds an order, a ticket and a customer by whatever support knows of them, in any case of letters."""

import pytest

from bot.support.model import Ticket
from bot.support.repository import TicketRepository
from tests.e2e.bot_database import open_transaction
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import type_to_review
from tests.e2e.support.lookups import hides_recipient, lookups_in_audit_log, open_rinas_chat, place_order
from tests.e2e.system import System
from tests.texts import label, like, text
from tests.times import NOW

session_loop = pytest.mark.asyncio(loop_scope="session")
NUMBER = "5550013579"


async def add_person(system: System, first_name: str, username: str) -> ChatUser:
    """Return a new user with a name and a username, who has started the bot."""
    about = {"first_name": first_name, "username": username, "language_code": "en", "role": "sender"}
    answer = (await system.telegram.post("/sandbox/people", json=about)).raise_for_status()
    person = ChatUser(system.telegram, answer.json()["id"])
    await person.says("/start")
    await person.sees(like("home.start.text"))
    return person


@session_loop
async def test_an_order_is_found_by_its_reference_its_service_id_and_parts_in_any_case(shared_system: System) -> None:
    rina, emma = await open_rinas_chat(shared_system), await new_user(shared_system)
    reference, order = await place_order(shared_system, emma)
    service_id = str(order["id"])
    for typed in (reference, reference.lower(), f"#{reference}", service_id, service_id.upper(), service_id[4:]):
        await rina.says(f"/find {typed}")
        page = await rina.sees(like("support.case.reference", reference=reference))
        assert hides_recipient(page)
    assert lookups_in_audit_log(shared_system, f"order:{reference}")[-1] == (rina.id, f"order:{reference}", emma.id)


@session_loop
async def test_a_customer_is_found_by_id_username_or_the_first_name_of_a_ticket(shared_system: System) -> None:
    rina = await open_rinas_chat(shared_system)
    sekar = await add_person(shared_system, "Sekar", "harum_melati")
    for typed in (str(sekar.id), "@Harum_Melati", "melati"):
        await rina.says(f"/find {typed}")
        await rina.sees(like("support.case.person", user=f"Sekar ({sekar.id})"))
    await rina.says("/find sekar")
    await rina.sees(like("support.lookup.none_called", what="sekar"))
    async with open_transaction(shared_system) as tx:
        assert await TicketRepository(tx).add(Ticket.open(sekar.id, NOW))
    await rina.says("/find SEKAR")
    await rina.sees(like("support.case.person", user=f"Sekar ({sekar.id})"))


@session_loop
async def test_last_digits_find_an_order_also_with_the_bank_and_never_show_the_number(shared_system: System) -> None:
    rina, emma = await open_rinas_chat(shared_system), await new_user(shared_system)
    await type_to_review(emma, number=NUMBER)
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees("lnbcrt", anywhere=True)
    for typed in (NUMBER[-4:], NUMBER[-5:], NUMBER):
        await rina.says(f"/find {typed}")
        page = await rina.sees("BCA ••••3579")
        assert NUMBER not in text_of(page)
    await rina.says("/find bca 3579 today")
    listed = await rina.sees(like("support.lookup.sought"))
    assert "BCA ••••3579" in text_of(listed)
    assert text("support.lookup.digits", digits="3579") in text_of(listed)
    assert f"Newcomer ({emma.id})" in text_of(listed)
    await rina.says("/find mandiri 3579")
    await rina.sees(like("support.lookup.nothing"))


@session_loop
async def test_an_operator_finds_the_same_masked_and_can_only_look(shared_system: System) -> None:
    oscar, emma = ChatUser(shared_system.telegram, shared_system.oscar.id), await new_user(shared_system)
    await oscar.speaks("en")
    reference, _ = await place_order(shared_system, emma)
    ticket = Ticket.open(emma.id, NOW, order_reference=reference)
    async with open_transaction(shared_system) as tx:
        assert await TicketRepository(tx).add(ticket)
    await oscar.says(f"/find {reference}")
    page = await oscar.sees(like("support.case.reference", reference=reference))
    assert hides_recipient(page)
    always = {f"lu:ticket:{ticket.reference}", f"lu:person:{emma.id}", f"lu:order:{reference}"}
    # What the service reports is evidence as soon as the order was polled.
    assert always <= set(callback_data(page)) <= always | {f"lu:proof:{reference}"}
    assert lookups_in_audit_log(shared_system, f"order:{reference}")[-1] == (oscar.id, f"order:{reference}", emma.id)
    await oscar.taps(ticket.reference, message=page)
    card = await oscar.sees(like("support.staff_ticket.unclaimed", reference=ticket.reference))
    assert {each.partition(":")[0] for each in callback_data(card)} == {"lu"}
    assert text("support.staff_ticket.hint") not in text_of(card)
    await oscar.taps(label("orders.button.refresh"), message=card)
    await oscar.says("not for the customer", reply_to=card)
    for data in (f"rv:{reference}:ask", f"tk:{ticket.reference}:claim", f"tk:{ticket.reference}:close"):
        assert (await oscar.presses(card, data, force=True))["text"] == label("support.staff.not_yours")
    assert await emma.count("not for the customer") == 0
    async with open_transaction(shared_system) as tx:
        assert await TicketRepository(tx).get(ticket.reference) == ticket


def callback_data(message: Json) -> list[str]:
    rows = message["reply_markup"]["inline_keyboard"]
    return [button["callback_data"] for row in rows for button in row if "callback_data" in button]

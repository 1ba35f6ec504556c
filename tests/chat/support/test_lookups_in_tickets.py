"""Lookups from within tickets, with a group and without one, and by a former agent."""

import re

import pytest

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.bot_database import row_of, wait_for_row
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.support.lookups import hides_recipient, lookups_in_audit_log
from tests.e2e.system import System
from tests.texts import in_any_language, label, like, shown_user

session_loop = pytest.mark.asyncio(loop_scope="session")


async def fail_after_payment(kirim: System, user: ChatUser) -> tuple[str, str]:
    """Let an order fail after its payment. Return the references of the order and of the ticket that opens."""
    _, order = await tap_to_invoice(kirim, user)
    await kirim.service.pays(order)
    await user.sees(like("orders.notification.paid"), anywhere=True)
    await kirim.service.does("fail", orderId=order["id"])
    await wait_for_row(kirim, order, phase="done")
    message = await user.sees("T-[0-9A-Z]{5}", anywhere=True)
    return str(row_of(kirim, order)["reference"]), re.findall("T-[0-9A-Z]{5}", text_of(message))[0]


async def wait_for_card(reader: ChatUser, ticket: str) -> Json:
    """Wait for the ticket's card in the chat."""
    return await reader.sees(in_any_language("support.staff_ticket.unclaimed", reference=ticket), anywhere=True)


async def wait_for_answer(reader: ChatUser, card: Json, text: str) -> Json:
    """Wait for an answer after the card. The card contains the same text, and may be updated at the same time."""
    return await reader.waits_for(
        lambda m: m["message_id"] > card["message_id"] and re.search(text, text_of(m)) is not None, what=text
    )


@session_loop
async def test_in_a_tickets_topic_nothing_has_to_be_named_and_the_page_of_one_is_answered_by_a_reply(
    shared_system: System,
) -> None:
    emma = await new_user(shared_system)
    reference, ticket = await fail_after_payment(shared_system, emma)
    group = ChatUser(shared_system.telegram, shared_system.rina.id, SUPPORT_GROUP_ID)
    card = await wait_for_card(group, ticket)
    topic = card["message_thread_id"]
    await group.says("/order", topic=topic)
    page = await wait_for_answer(group, card, in_any_language("support.case.reference", reference=reference))
    assert page["message_thread_id"] == topic
    assert hides_recipient(page)
    await group.says("/customer", topic=topic)
    user = await wait_for_answer(group, page, in_any_language("support.case.person", user=shown_user(emma.id)))
    assert user["message_thread_id"] == topic
    await group.taps(label("support.lookup.person", "id"), message=page)
    await group.sees(like("support.lookup.known_since", "id"))
    await group.presses(card, f"lu:person:{emma.id}", force=True)
    assert ticket in text_of(await group.finds(card) or {}), "a ticket's own card stays a card"
    rina = ChatUser(shared_system.telegram, shared_system.rina.id)
    await rina.speaks("en")
    await rina.says(f"/customer {emma.id}")
    await rina.taps(ticket)
    card = await rina.sees(like("support.staff_ticket.unclaimed", reference=ticket))
    await rina.says("We are asking the bank.", reply_to=card)
    await emma.sees("We are asking the bank")
    assert (rina.id, f"ticket:{ticket}", emma.id) in lookups_in_audit_log(shared_system)

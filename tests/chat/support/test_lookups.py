"""Agents look up orders, users and tickets, in private and in the group. The audit log records it."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from bot.support.model import CloseReason, Ticket
from bot.support.repository import TicketRepository
from tests.e2e.bot_database import open_transaction, wait_for_row
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order
from tests.e2e.support.lookups import (
    add_old_orders,
    hides_recipient,
    lookups_in_audit_log,
    open_rinas_chat,
    place_order,
)
from tests.e2e.system import System
from tests.texts import label, like, name_of, says, shown_user, text

session_loop = pytest.mark.asyncio(loop_scope="session")


@session_loop
async def test_an_order_is_found_by_reference_service_id_or_a_fragment_and_looking_is_written_down(
    shared_system: System,
) -> None:
    rina, emma = await open_rinas_chat(shared_system), await new_user(shared_system)
    reference, order = await place_order(shared_system, emma)
    for name in (reference, reference.lower(), order["id"], f"#{reference}"):
        await rina.says(f"/order {name}")
        page = await rina.sees(like("support.case.reference", reference=reference))
        assert "BCA ••••7890" in page["text"]
        assert says(page["text"], "support.case.person", user=shown_user(emma.id), language=name_of("en"))
        assert hides_recipient(page)
    assert lookups_in_audit_log(shared_system, f"order:{reference}") == [(rina.id, f"order:{reference}", emma.id)] * 4
    await rina.says(f"/order {reference[1:6]}")
    await rina.sees(f"{like('support.case.reference', reference=reference)}|{like('support.lookup.sought')}")
    await rina.says(f"/order {order['id'][3:]}")
    await rina.sees(like("support.case.reference", reference=reference))
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    await wait_for_row(shared_system, order, phase="done")
    await rina.taps(label("orders.button.refresh"))
    page = await rina.sees(like("support.case.heading", mark="✅", state=text("orders.status.sent")))
    assert says(page["text"], "support.case.timeline")
    await rina.taps(label("support.lookup.person"))
    user = await rina.sees(like("support.lookup.tally", orders=1, under_way=0, paid=1, failed=0))
    assert user["message_id"] == page["message_id"], "read in one message"
    assert lookups_in_audit_log(shared_system, "person:")[-1] == (rina.id, "person:", emma.id)


@session_loop
async def test_people_are_found_by_id_name_forwarding_and_their_lists_come_in_pages(shared_system: System) -> None:
    rina, emma = await open_rinas_chat(shared_system, "id"), await new_user(shared_system, "en")
    await emma.says("/start")
    await emma.sees(like("home.start.text"))
    await add_old_orders(shared_system, emma, 7)
    await rina.says(f"/customer {emma.id}")
    page = await rina.sees(like("support.case.person", "id", user=shown_user(emma.id)))
    assert says(page["text"], "support.lookup.tally", "id", orders=7, under_way=0, paid=0)
    assert f"Newcomer ({emma.id})" in page["text"]
    await rina.taps(label("support.lookup.all_orders", "id"), message=page)
    first = await rina.sees(like("support.lookup.orders_of", "id", user=shown_user(emma.id)))
    assert len(re.findall("BCA ••••7890", first["text"])) == 6
    await rina.taps(label("support.lookup.more", "id"), message=first)
    second = await rina.sees(like("support.lookup.orders_of", "id", user=shown_user(emma.id)))
    assert len(re.findall("BCA ••••7890", second["text"])) == 1
    assert second["message_id"] == first["message_id"]
    await rina.taps(label("support.lookup.back", "id"))
    assert (await rina.sees(like("support.lookup.orders_of", "id", user=shown_user(emma.id))))["text"] == first["text"]
    await rina.forwards_of(emma, "where is my money?")
    await rina.sees(like("support.case.person", "id", user=shown_user(emma.id)))
    forwarded = await rina.forwards_of(emma, "and here?")
    await rina.sees(like("support.case.person", "id", user=shown_user(emma.id)))
    await rina.says("/customer", reply_to=forwarded)
    await rina.sees(like("support.case.person", "id", user=shown_user(emma.id)))


@session_loop
async def test_tickets_are_listed_old_first_by_whose_they_are_and_a_user_has_theirs(shared_system: System) -> None:
    rina, emma = await open_rinas_chat(shared_system), await new_user(shared_system)
    reference, _ = await place_order(shared_system, emma)
    long_ago = datetime.now(UTC) - timedelta(days=300)
    waits, held, over = (Ticket.open(emma.id, long_ago, order_reference=about) for about in (reference, "", "Q234567"))
    held = held.record_reply(rina.id, long_ago)
    over = over.close(rina.id, CloseReason.SOLVED, datetime.now(UTC))
    async with open_transaction(shared_system) as tx:
        assert [await TicketRepository(tx).add(each) for each in (waits, held, over)] == [True] * 3
    await rina.says("/tickets")
    page = await rina.sees(like("support.lookup.tickets.open", count=re.compile(r"\d+")))
    first, second = page["text"].split("\n\n")[1:3]
    assert {first[:7], second[:7]} == {waits.reference, held.reference}
    unanswered = first if first.startswith(waits.reference) else second
    assert f"{text('support.case.ticket.unclaimed')}: {text('support.lookup.cause.asked')}" in unanswered
    assert says(unanswered, "support.lookup.waits", duration="300 days")
    assert f"Rp500,000 → BCA ••••7890 · {reference}" in unanswered
    for which, ticket in (("unclaimed", waits), ("mine", held), ("closed", over)):
        await rina.presses(page, f"lu:tickets:{which}~0")
        listed = await rina.sees(like(f"support.lookup.tickets.{which}"))
        assert listed["message_id"] == page["message_id"]
        assert listed["text"].split("\n\n")[1].startswith(ticket.reference)
    await rina.taps(over.reference)
    shown = await rina.sees(like("support.staff_ticket.closed", reference=over.reference))
    assert shown["message_id"] != page["message_id"], "a message of its own, to be replied to"
    await rina.taps(label("orders.button.refresh"), message=shown)
    await rina.sees_times(1, like("support.staff_ticket.closed", reference=over.reference))
    assert lookups_in_audit_log(shared_system, "ticket:")[-1] == (rina.id, f"ticket:{over.reference}", emma.id)
    await rina.taps(label("support.lookup.person"), message=shown)
    about = await rina.sees(like("support.lookup.tally", orders=1, under_way=1))
    assert all(each.reference in about["text"] for each in (waits, held, over))
    await rina.taps(label("support.lookup.all_tickets"))
    theirs = await rina.sees(like("support.lookup.tickets_of", user=shown_user(emma.id)))
    assert theirs["text"].index(over.reference) > theirs["text"].index(held.reference), "open ones first"
    for asked in (f"/order {waits.reference}", f"/order {waits.reference.replace('-', '').lower()}"):
        await rina.says(asked)
        await rina.sees(like("support.case.reference", reference=reference))
    await rina.says(f"/order {held.reference}")
    await rina.sees(like("support.staff_ticket.claimed", reference=held.reference, by="Rina"))

"""A ticket in the chats of support: its card with the whole case, in a topic, a plain group or private chats."""

import re
from pathlib import Path

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.chat.system import running_in_process
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.faults import kill_and_restart
from tests.e2e.local_times import move_to_noon
from tests.e2e.support.cards import fail_after_payment, support_group, topics, wait_for_card
from tests.e2e.system import System
from tests.texts import label, like, name_of, says, shown_user, text


def is_claimed_by_rina(message: Json) -> bool:
    """Return whether a card says that Rina has claimed the ticket."""
    return says(text_of(message), "support.staff_ticket.claimed", "id", by="Rina")


async def use_plain_group(system: System) -> ChatUser:
    """Move the bot's support to a new group without topics, and return that group."""
    about = {"title": "Bantuan", "type": "group", "members": [2001, 3001]}
    made = (await system.telegram.post("/sandbox/chats", json=about)).raise_for_status().json()
    await kill_and_restart(system, SUPPORT_CHAT_ID=str(made["id"]))
    return support_group(system, made["id"])


async def set_bot_status(system: System, status: str) -> None:
    """Change the bot's status in the group, as Oscar."""
    path = f"/sandbox/chats/{SUPPORT_GROUP_ID}/bot"
    (await system.telegram.post(path, json={"from": 2001, "status": status})).raise_for_status()


async def test_a_payment_that_fails_opens_a_topic_with_the_whole_case(kirim: System) -> None:
    user, order = await fail_after_payment(kirim)
    card = await wait_for_card(support_group(kirim), user)
    shown = text_of(card)
    (reference,) = re.findall("T-[0-9A-Z]{5}", shown)
    assert (await topics(kirim))[card["message_thread_id"]]["name"] == f"{reference} · BCA Rp500.000"
    assert "BCA ••••7890" in shown
    assert "1234567890" not in shown
    assert order["id"] in shown
    language = name_of("en", "id")
    assert says(shown, "support.case.person", "id", user=shown_user(user.id), language=language)
    assert says(shown, "support.case.unusual.failed_paid", "id")
    paid = like("support.case.state", "id", what=text("orders.step.paid", "id"), state="LN_INVOICE_PAID")
    assert re.search(paid + like("support.case.service_at", "id", at=re.compile("[0-9.]+")), shown)
    paid_text, sent_text = text("support.case.told.paid", "id"), text("support.case.reach.sent", "id")
    assert says(shown, "support.case.told", "id", what=paid_text, reach=sent_text)


async def test_the_order_is_read_afresh_by_a_button_that_says_what_it_has_changed(kirim: System) -> None:
    user, order = await fail_after_payment(kirim)
    group = support_group(kirim)
    card = await wait_for_card(group, user)
    # The service allows one read of an order a second, and another agent has just read it. So the bot waits.
    await kirim.service.fails_with("429", method="GET", path=f"/v1/offramp/orders/{order['id']}", times=1, retryAfter=1)
    pressed = await group.taps(label("support.staff_ticket.fresh", "id"), message=card)
    assert pressed["text"] == label("support.staff_ticket.reading", "id")
    await group.sees(like("support.staff_ticket.unchanged", "id", at=re.compile("[0-9.]+")))
    await kirim.service.does("advance", orderId=order["id"], state="COMPLETED")
    await group.taps(label("support.staff_ticket.fresh", "id"), message=card)
    sent = await group.sees(like("support.staff_ticket.state_not_taken", "id", after="COMPLETED", before="FAILED"))
    assert sent["message_thread_id"] == card["message_thread_id"]
    await kirim.service.fails_with("503", method="GET", path=f"/v1/offramp/orders/{order['id']}")
    await group.taps(label("support.staff_ticket.fresh", "id"), message=card)
    await group.sees(like("support.staff_ticket.unreadable", "id"))


async def test_a_plain_group_gets_the_card_and_answers_to_it_and_is_followed_to_its_new_id(kirim: System) -> None:
    group = await use_plain_group(kirim)
    user, _ = await fail_after_payment(kirim)
    card = await wait_for_card(group, user)
    assert "message_thread_id" not in card
    opened = await user.sees(like("support.ticket.by_itself_failed"), anywhere=True)
    await user.says("Where is my money?", reply_to=opened)
    words = await group.sees("Where is my money")
    assert words["reply_to_message"]["message_id"] == card["message_id"]
    moved = await kirim.telegram.post(f"/sandbox/chats/{group.chat_id}/migrate", json={})
    new_id = moved.raise_for_status().json()["id"]
    supergroup = support_group(kirim, new_id)
    await user.says("Hello?", reply_to=opened)
    words = await supergroup.sees("Hello")
    card = await wait_for_card(supergroup, user)
    assert words["reply_to_message"]["message_id"] == card["message_id"]
    await supergroup.taps(label("support.staff_ticket.claim", "id"), message=card)
    await supergroup.waits_for(is_claimed_by_rina)


async def test_without_a_group_each_supporter_has_the_ticket_in_private_and_in_their_language(tmp_path: Path) -> None:
    async with running_in_process(tmp_path, SUPPORT_CHAT_ID="0", SUPPORT_IDS="2001,3001") as kirim:
        await kirim.rina.says("/start")
        await kirim.oscar.says("/start")
        user, _ = await fail_after_payment(kirim)
        heads = [await wait_for_card(each, user) for each in (kirim.rina, kirim.oscar)]
        for card, locale in zip(heads, ("id", "en"), strict=True):
            assert says(text_of(card), "support.case.timeline", locale)
        opened = await user.sees(like("support.ticket.by_itself_failed"), anywhere=True)
        await user.says("Where is my money?", reply_to=opened)
        for supporter, card in zip((kirim.rina, kirim.oscar), heads, strict=True):
            words = await supporter.sees("Where is my money", anywhere=True)
            assert words["reply_to_message"]["message_id"] == card["message_id"]
        await kirim.rina.says("/start")
        await kirim.rina.sees(like("support.agent.start", "id", open=1, unclaimed=1, mine=0))


async def test_where_no_agents_are_named_operators_answer_tickets(tmp_path: Path) -> None:
    async with running_in_process(tmp_path, SUPPORT_CHAT_ID="0", SUPPORT_IDS="") as kirim:
        await kirim.oscar.says("/start")
        user, _ = await fail_after_payment(kirim)
        await kirim.oscar.says("On its way", reply_to=await wait_for_card(kirim.oscar, user))
        await user.sees("On its way", anywhere=True)


async def test_a_group_that_is_lost_loses_nothing_and_operators_hear_of_it(kirim: System) -> None:
    for each in (kirim.rina, kirim.oscar):
        await each.speaks("en")
        await each.says("/start")
        await each.sees(like("home.start.staff"))
    await move_to_noon(kirim.oscar)
    await set_bot_status(kirim, "kicked")
    user, _ = await fail_after_payment(kirim)
    await wait_for_card(kirim.rina, user)
    await kirim.oscar.sees(like("staff.alarm.staff_chat_lost"), anywhere=True)
    opened = await user.sees(like("support.ticket.by_itself_failed"), anywhere=True)
    await user.says("Where is my money?", reply_to=opened)
    await kirim.rina.sees("Where is my money", anywhere=True)
    await set_bot_status(kirim, "administrator")
    other, _ = await fail_after_payment(kirim)
    await wait_for_card(support_group(kirim), other)
    await kirim.oscar.sees(like("staff.alarm.over", line=text("staff.alarm.staff_chat_lost_over")), anywhere=True)

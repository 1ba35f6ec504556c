"""Support's room: a ticket stands there with its whole case, in a topic, in a plain group, or in private chats."""

import re
from pathlib import Path

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.support.tickets import CARD
from tests.e2e.system import System, running_system
from tests.texts import in_any_language, label, like, name_of, says, text
from tests.waiting import until


def room_of(system: System, chat_id: int = SUPPORT_GROUP_ID) -> ChatUser:
    """The group, as Rina of support sees it."""
    return ChatUser(system.telegram, 3001, chat_id)


async def fails_after_payment(system: System) -> tuple[ChatUser, Json]:
    """Somebody new pays, and then it fails."""
    user = await new_user(system)
    _, order = await tap_to_invoice(system, user)
    await system.service.pays(order)
    await user.sees(like("news.paid"))
    await system.service.does("fail", orderId=order["id"])
    await user.sees(like("news.failed_paid"))
    return user, order


async def asks_about(system: System, user: ChatUser, order: Json) -> None:
    """From the page of an order to support."""
    await user.says("/orders")
    await user.taps(str(row_of(system, order)["reference"]))
    await user.taps(label("button.help"))
    await user.sees(like("ticket.what_is_wrong"))
    await user.says("Did it go through?")
    await user.sees(like("ticket.is_open"))


async def head_of(room: ChatUser, user: ChatUser) -> Json:
    """The card of somebody's ticket, in whichever language."""
    about = in_any_language("case.person", id=str(user.id))
    return await room.waits_for(lambda m: is_card(m) and re.search(about, text_of(m)) is not None, anywhere=True)


def is_card(message: Json) -> bool:
    return re.search(CARD, text_of(message)) is not None


def is_rinas(message: Json) -> bool:
    """Whether a card says that Rina has claimed its ticket."""
    return says(text_of(message), "staff_ticket.claimed", "id", by="3001")


async def topics(system: System, chat_id: int = SUPPORT_GROUP_ID) -> dict[int, Json]:
    """The topics of a group by their ids."""
    chats = (await system.telegram.get("/sandbox/state")).raise_for_status().json()["chats"]
    found = next(chat for chat in chats if chat["id"] == chat_id)["topics"]
    return {topic["id"]: topic for topic in found}


async def a_plain_group(system: System) -> ChatUser:
    """A group without topics, and the bot works there from now on."""
    about = {"title": "Bantuan", "type": "group", "members": [2001, 3001]}
    made = (await system.telegram.post("/sandbox/chats", json=about)).raise_for_status().json()
    await kill_and_restart(system, SUPPORT_CHAT_ID=str(made["id"]))
    return room_of(system, made["id"])


async def puts_bot(system: System, status: str) -> None:
    """Oscar gives the bot another place in the group."""
    path = f"/sandbox/chats/{SUPPORT_GROUP_ID}/bot"
    (await system.telegram.post(path, json={"from": 2001, "status": status})).raise_for_status()


async def test_a_payment_that_fails_opens_a_topic_with_the_whole_case(kirim: System) -> None:
    user, order = await fails_after_payment(kirim)
    head = await head_of(room_of(kirim), user)
    shown = text_of(head)
    (reference,) = re.findall("T-[0-9A-Z]{5}", shown)
    assert (await topics(kirim))[head["message_thread_id"]]["name"] == f"{reference} · BCA Rp500.000"
    assert "BCA ••••7890" in shown
    assert "1234567890" not in shown
    assert order["id"] in shown
    language = name_of("en", "id")
    assert says(shown, "case.person", "id", id=str(user.id), language=language)
    assert says(shown, "case.unusual.failed_paid", "id")
    paid = like("case.state", "id", what=text("step.paid", "id"), state="LN_INVOICE_PAID")
    assert re.search(paid + like("case.service_at", "id", at=re.compile("[0-9.]+")), shown)
    told, sent = text("case.told.paid", "id"), text("case.reach.sent", "id")
    assert says(shown, "case.told", "id", what=told, reach=sent)


async def test_the_card_and_the_topic_follow_the_ticket(kirim: System) -> None:
    user, _ = await fails_after_payment(kirim)
    room = room_of(kirim)
    head = await head_of(room, user)
    topic_id = head["message_thread_id"]
    await room.taps(label("staff_ticket.claim", "id"), message=head)
    await room.waits_for(lambda m: m["message_id"] == head["message_id"] and is_rinas(m))
    await room.taps(label("staff_ticket.close", "id"), message=await room.finds(head))
    await room.sees(like("staff.closing", "id"))
    await room.taps(label("staff.close.solved", "id"))

    async def is_closed() -> bool:
        topic = (await topics(kirim))[topic_id]
        return bool(topic["closed"]) and topic["name"].startswith("✅ T-")

    await until(is_closed, what="the closed topic")
    await room.taps(label("staff_ticket.reopen", "id"), message=await room.finds(head))

    async def is_open() -> bool:
        topic = (await topics(kirim))[topic_id]
        return not topic["closed"] and topic["name"].startswith("T-")

    await until(is_open, what="the open topic")


async def test_the_order_is_read_afresh_by_a_button_that_says_what_it_has_changed(kirim: System) -> None:
    user, order = await fails_after_payment(kirim)
    room = room_of(kirim)
    head = await head_of(room, user)
    # Somebody else has just read it, and the service lets an order be read once a second: read a moment later.
    await kirim.service.fails_with("429", method="GET", path=f"/v1/offramp/orders/{order['id']}", times=1, retryAfter=1)
    pressed = await room.taps(label("staff_ticket.fresh", "id"), message=head)
    assert pressed["text"] == label("staff_ticket.reading", "id")
    await room.sees(like("staff_ticket.unchanged", "id", at=re.compile("[0-9.]+")))
    await kirim.service.does("advance", orderId=order["id"], state="COMPLETED")
    await room.taps(label("staff_ticket.fresh", "id"), message=head)
    said = await room.sees(like("staff_ticket.state_not_taken", "id", after="COMPLETED", before="FAILED"))
    assert said["message_thread_id"] == head["message_thread_id"]
    await kirim.service.fails_with("503", method="GET", path=f"/v1/offramp/orders/{order['id']}")
    await room.taps(label("staff_ticket.fresh", "id"), message=head)
    await room.sees(like("staff_ticket.unreadable", "id"))


async def test_a_living_order_read_afresh_is_taken_in_and_every_card_follows_it(tmp_path: Path) -> None:
    async with running_system(tmp_path, POLL_INTERVAL_SECONDS="60") as kirim:
        user, room = await new_user(kirim), room_of(kirim)
        _, order = await tap_to_invoice(kirim, user)
        await asks_about(kirim, user, order)
        head = await head_of(room, user)
        await room.sees("Did it go through", anywhere=True)
        await kirim.service.pays(order)
        await room.taps(label("staff_ticket.fresh", "id"), message=head)
        said = text_of(await room.sees(like("staff_ticket.has_changed", "id")))
        state = text("staff_ticket.state", "id", before="-", after="LN_INVOICE_PAID")
        assert said.split("\n")[1:] == [state, text("staff_ticket.now_paid", "id")]
        await user.sees(like("news.paid"), anywhere=True)
        await room.waits_for(
            lambda m: m["message_id"] == head["message_id"] and says(text_of(m), "case.service_at", "id"),
            anywhere=True,
        )


async def test_words_too_long_for_one_message_with_ours_arrive_whole_and_a_correction_under_them(kirim: System) -> None:
    user, _ = await fails_after_payment(kirim)
    room = room_of(kirim)
    head = await head_of(room, user)
    opened = await user.sees(like("ticket.by_itself_failed"), anywhere=True)
    long = "rupiah " * 580 + "the end"
    written = await user.says(long, reply_to=opened)
    rest = await room.sees("the end$")
    assert text_of(rest) == long
    assert rest["message_thread_id"] == head["message_thread_id"]
    await user.edits(written, "In short: where is it?")
    corrected = await room.sees("In short: where is it")
    assert says(text_of(corrected), "staff_ticket.changed", "id")
    assert corrected["reply_to_message"]["message_id"] == rest["message_id"]
    await room.says("On its way", reply_to=rest)
    await user.sees("On its way")


async def test_a_topic_that_somebody_deletes_is_made_anew(kirim: System) -> None:
    user, _ = await fails_after_payment(kirim)
    room = room_of(kirim)
    head = await head_of(room, user)
    token = kirim.environment["TELEGRAM_BOT_TOKEN"]
    gone = {"chat_id": SUPPORT_GROUP_ID, "message_thread_id": head["message_thread_id"]}
    (await kirim.telegram.post(f"/bot{token}/deleteForumTopic", json=gone)).raise_for_status()
    opened = await user.sees(like("ticket.by_itself_failed"), anywhere=True)
    await user.says("Where is my money?", reply_to=opened)
    words = await room.sees("Where is my money")
    assert words["message_thread_id"] != head["message_thread_id"]
    assert (await head_of(room, user))["message_thread_id"] == words["message_thread_id"]


async def test_kill_9_between_a_topic_and_its_card_opens_no_second_topic(kirim: System) -> None:
    room = room_of(kirim)
    async with hold_call(calls_of(kirim, "sendMessage"), room):
        user, _ = await fails_after_payment(kirim)
    await kill_and_restart(kirim)
    await head_of(room, user)
    assert len(await topics(kirim)) == 1
    assert await room.count(CARD) == 1


async def test_an_answer_to_a_card_that_a_kill_kept_from_being_known_is_not_silently_lost(kirim: System) -> None:
    room = room_of(kirim)
    async with hold_call(calls_of(kirim, "sendMessage"), room, "delay_after"):
        user, _ = await fails_after_payment(kirim)
    first = await room.waits_for(is_card, anywhere=True)
    await kill_and_restart(kirim)
    again = await room.waits_for(lambda m: is_card(m) and m["message_id"] != first["message_id"], anywhere=True)
    assert again["message_thread_id"] == first["message_thread_id"]
    await room.says("On its way", reply_to=first)
    await room.sees(like("staff.not_passed_on", "id"))
    await room.says("It arrives today", reply_to=again)
    await user.sees("It arrives today", anywhere=True)
    assert await user.count("On its way") == 0


async def test_a_plain_group_gets_the_card_and_answers_to_it_and_is_followed_to_its_new_id(kirim: System) -> None:
    group = await a_plain_group(kirim)
    user, _ = await fails_after_payment(kirim)
    head = await head_of(group, user)
    assert "message_thread_id" not in head
    opened = await user.sees(like("ticket.by_itself_failed"), anywhere=True)
    await user.says("Where is my money?", reply_to=opened)
    words = await group.sees("Where is my money")
    assert words["reply_to_message"]["message_id"] == head["message_id"]
    moved = await kirim.telegram.post(f"/sandbox/chats/{group.chat_id}/migrate", json={})
    new_id = moved.raise_for_status().json()["id"]
    supergroup = room_of(kirim, new_id)
    await user.says("Hello?", reply_to=opened)
    words = await supergroup.sees("Hello")
    head = await head_of(supergroup, user)
    assert words["reply_to_message"]["message_id"] == head["message_id"]
    await supergroup.taps(label("staff_ticket.claim", "id"), message=head)
    await supergroup.waits_for(is_rinas)


async def test_where_the_bot_may_open_no_topics_everything_answers_the_card(kirim: System) -> None:
    await puts_bot(kirim, "member")
    user, _ = await fails_after_payment(kirim)
    room = room_of(kirim)
    head = await head_of(room, user)
    assert "message_thread_id" not in head
    assert await topics(kirim) == {}
    opened = await user.sees(like("ticket.by_itself_failed"), anywhere=True)
    await user.says("Where is my money?", reply_to=opened)
    words = await room.sees("Where is my money")
    assert words["reply_to_message"]["message_id"] == head["message_id"]
    await room.says("On its way", reply_to=words)
    await user.sees("On its way")


async def test_without_a_group_each_supporter_has_the_ticket_in_private_and_in_their_language(tmp_path: Path) -> None:
    async with running_system(tmp_path, SUPPORT_CHAT_ID="0", SUPPORT_IDS="2001,3001") as kirim:
        await kirim.rina.says("/start")
        await kirim.oscar.says("/start")
        user, _ = await fails_after_payment(kirim)
        heads = [await head_of(each, user) for each in (kirim.rina, kirim.oscar)]
        for head, locale in zip(heads, ("id", "en"), strict=True):
            assert says(text_of(head), "case.timeline", locale)
        opened = await user.sees(like("ticket.by_itself_failed"), anywhere=True)
        await user.says("Where is my money?", reply_to=opened)
        for supporter, head in zip((kirim.rina, kirim.oscar), heads, strict=True):
            words = await supporter.sees("Where is my money", anywhere=True)
            assert words["reply_to_message"]["message_id"] == head["message_id"]


async def test_a_group_that_is_lost_loses_nothing_and_operators_hear_of_it(kirim: System) -> None:
    for each in (kirim.rina, kirim.oscar):
        await each.speaks("en")
        await each.says("/start")
        await each.sees(like("start.text"))
    await puts_bot(kirim, "kicked")
    user, _ = await fails_after_payment(kirim)
    await head_of(kirim.rina, user)
    await kirim.oscar.sees(like("alarm.staff_chat_lost"), anywhere=True)
    opened = await user.sees(like("ticket.by_itself_failed"), anywhere=True)
    await user.says("Where is my money?", reply_to=opened)
    await kirim.rina.sees("Where is my money", anywhere=True)
    await puts_bot(kirim, "administrator")
    other, _ = await fails_after_payment(kirim)
    await head_of(room_of(kirim), other)
    await kirim.oscar.sees(like("alarm.over", line=text("alarm.staff_chat_lost_over")), anywhere=True)

"""Receipts: one picture for the sender, and the result of its code for anyone, in private chats and in groups."""

import asyncio
import re

import pytest

from bot.orders.buttons import OrderAction
from bot.orders.receipts.codes import ALPHABET
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.receipts import FALSE, TOLD, TRUE, code_on, orders
from tests.e2e.orders.steps import complete_order, order_button, order_of
from tests.e2e.system import System
from tests.pictures import qr_texts
from tests.texts import label, like, says

session = pytest.mark.asyncio(loop_scope="session")


async def complete_new_order(system: System, user: ChatUser, **answers: str) -> Json:
    """Place and complete an order, and return the message with its receipt."""
    order = await orders(system, user, **answers)
    await system.service.pays(order)
    await complete_order(system, order)
    return await user.sees(TOLD)


async def all_of(user: ChatUser) -> str:
    """Return the texts of all messages."""
    return "\n".join(map(text_of, await user.messages()))


def change_last_character(code: str) -> str:
    """Return the code with another last character."""
    return code[:-1] + ALPHABET[(ALPHABET.index(code[-1]) + 1) % len(ALPHABET)]


async def open_group(shared_system: System, *members: ChatUser) -> list[ChatUser]:
    """Put the same users and the bot into a group."""
    wanted = {"title": "Family", "members": [member.id for member in members], "bot": "member"}
    group = (await shared_system.telegram.post("/sandbox/chats", json=wanted)).raise_for_status().json()
    return [ChatUser(shared_system.telegram, member.id, group["id"]) for member in members]


@session
async def test_a_whole_payment_ends_with_one_picture_that_proves_itself(shared_system: System) -> None:
    emma, sari = await asyncio.gather(new_user(shared_system), new_user(shared_system, "id"))
    receipt = await complete_new_order(shared_system, emma, holder="Budi Santoso")
    code = await code_on(emma, receipt)
    assert not receipt["sandbox"]["silent"]
    phrase = re.search(like("users.pay.phrase", phrase=re.compile("(?P<words>[a-z ]+)")), await all_of(emma))
    assert phrase is not None
    # Without the random ids of the picture's files: one of them can spell Budi.
    forwarded = str({name: value for name, value in receipt.items() if name != "photo"})
    assert [secret for secret in ("567890", "Budi", phrase["words"]) if secret in forwarded] == []
    assert qr_texts(await emma.scans(receipt)) == [f"https://t.me/kirim_sandbox_bot?start=v_{code.replace('-', '')}"]
    offered = ("orders.button.tell", "orders.button.remind", "orders.button.new", "recipients.offer")
    assert await emma.labels_of(receipt) == [label(name) for name in offered]
    await sari.says(f"/start v_{code.replace('-', '')}")
    told = await sari.sees(like("orders.verify.true", "id", amount="Rp500.000"))
    for fact in ("BCA · BANK", "••••7890", "B••• S••••••", "WIB", "sats\n"):
        assert fact in told["text"]
    assert says(told["text"], "orders.receipt.name_given", "id")
    assert says(told["text"], "orders.verify.compare", "id")
    assert "567890" not in str(told)
    await emma.sees_times(1, TOLD)
    assert code not in shared_system.read_log()
    assert code.replace("-", "") not in shared_system.read_log()


@session
async def test_whoever_was_shown_a_receipt_can_have_it_verified(shared_system: System) -> None:
    emma = await new_user(shared_system)
    code = await code_on(emma, await complete_new_order(shared_system, emma))
    await asyncio.gather(
        verified_however_one_comes_by_it(shared_system, code),
        everybody_in_a_group_is_answered_and_offered_nothing(shared_system, code),
    )


@session
async def test_the_picture_is_shown_when_it_is_wished_for(shared_system: System) -> None:
    await asyncio.gather(
        comes_again_when_asked_for_and_once_for_a_double_tap(shared_system),
        comes_with_a_message_to_the_recipient_that_nothing_keeps(shared_system),
    )


async def verified_however_one_comes_by_it(shared_system: System, code: str) -> None:
    sari = await new_user(shared_system)
    await sari.says(f"/verify {code.lower().replace('-', ' ')}")
    await sari.sees(TRUE)
    await sari.says(code)
    await sari.sees(TRUE)
    await sari.says("/verify")
    await sari.sees(like("orders.verify.ask"))
    await sari.says(change_last_character(code))
    await sari.sees(FALSE)
    await sari.says("/verify <b>nonsense</b>")
    await sari.sees(FALSE)
    await sari.says(change_last_character(code))  # the question was answered, so this code is recognised alone
    await sari.sees(FALSE)
    await sari.says("/send")
    await sari.sees(like("checkout.destination.ask"))
    await sari.says("bca")
    await sari.sees(like("checkout.number.ask_bank"))
    await sari.says(code)
    await sari.sees(like("checkout.number.ask_bank"))
    assert await sari.count(TRUE) == 2
    await sari.says(f"/verify {code}")
    await sari.sees(TRUE)
    await sari.taps(label("checkout.draft.continue"))
    await sari.sees(like("checkout.number.ask_bank"))


async def everybody_in_a_group_is_answered_and_offered_nothing(shared_system: System, code: str) -> None:
    emma, sari = await asyncio.gather(new_user(shared_system), new_user(shared_system, "id"))
    emma_there, sari_there = await open_group(shared_system, emma, sari)
    question = await emma_there.says(f"/verify@kirim_sandbox_bot {code}")
    told = await emma_there.sees(TRUE)
    assert told["reply_to_message"]["message_id"] == question["message_id"]
    await sari_there.says(f"/verify {change_last_character(code)}")
    untrue = await sari_there.sees(like("orders.verify.false", "id"))
    await sari_there.says("/verify")
    explained = await sari_there.sees(
        like("orders.verify.how", "id", command=re.compile("/verify@kirim_sandbox_bot.*"))
    )
    assert not any("reply_markup" in message for message in (told, untrue, explained))
    before = len(await emma_there.messages())
    await emma_there.says(f"/verify@another_bot {code}")
    await emma_there.says("/rate")
    await emma_there.sees(like("users.group_chat.text"))
    assert len(await emma_there.messages()) == before + 3


async def comes_again_when_asked_for_and_once_for_a_double_tap(shared_system: System) -> None:
    emma, sari = await asyncio.gather(new_user(shared_system), new_user(shared_system))
    order = await orders(shared_system, emma)
    pay = await emma.sees(like("orders.status_message.waiting"), anywhere=True)
    button = order_button(shared_system, order, OrderAction.RECEIPT)
    assert (await emma.presses(pay, button, force=True))["text"] == label("orders.receipt.not_yet")
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    receipt = await emma.sees(TOLD)
    first, second = await asyncio.gather(*(emma.presses(receipt, button, force=True) for _ in range(2)))
    assert first["text"] == second["text"] == ""
    await emma.sees_times(2, TOLD)
    again = (await emma.messages())[-1]
    assert await code_on(emma, again) == await code_on(emma, receipt)
    await sari.says("/start")
    welcome = await sari.sees(like("home.start.text"))
    assert (await sari.presses(welcome, button, force=True))["text"] == label("orders.stale.not_yours")
    assert await sari.count(TOLD) == 0
    await emma.taps(label("orders.button.new"), message=again)
    await emma.sees(like("checkout.destination.ask_again"))


async def comes_with_a_message_to_the_recipient_that_nothing_keeps(shared_system: System) -> None:
    emma, sari = await asyncio.gather(new_user(shared_system), new_user(shared_system))
    await emma.says("/send 500rb gopay 081298765432 Dewi")
    await emma.sees(like("checkout.review.title"))
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    order = await order_of(shared_system, emma)
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    receipt = await emma.sees(like("orders.notification.sent_ewallet", name="GoPay"))
    await emma.taps(label("orders.button.tell"), message=receipt)
    told = await emma.sees(like("orders.tell.text", amount="Rp500,000", destination="GoPay ••••5432"))
    ((whatsapp, other),) = told["reply_markup"]["inline_keyboard"]
    assert whatsapp["url"].startswith("https://wa.me/6281298765432?text=")
    await emma.presses(told, other["callback_data"])
    again = await emma.sees(like("orders.tell.text", "id", amount="Rp500.000", destination="GoPay ••••5432"))
    assert again["message_id"] == told["message_id"]
    await sari.says("/start")
    welcome = await sari.sees(like("home.start.text"))
    for data in (order_button(shared_system, order, OrderAction.TELL), other["callback_data"]):
        assert (await sari.presses(welcome, data, force=True))["text"] == label("orders.stale.not_yours")
    kept = b"".join(path.read_bytes() for path in shared_system.state.glob("kirim.db*"))
    signs = (b"SQLite format", b"wa.me", b"6281298765432", other["callback_data"].encode())
    assert [sign for sign in signs if sign in kept] == [b"SQLite format"]
    assert not any(trace in shared_system.read_log() for trace in ("wa.me", "81298765432"))

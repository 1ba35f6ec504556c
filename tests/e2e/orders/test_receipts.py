"""Receipts: one picture for the sender, and the result of its code for anyone, in private chats and in groups."""

import asyncio
import re
import sqlite3
from contextlib import closing

import pytest

from bot.orders.buttons import OrderAction
from bot.orders.receipts.codes import ALPHABET
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.faults import calls_of, clear_faults, hold_call
from tests.e2e.local_times import TIME
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, order_button, order_of, review_pattern, tap_change, tap_to_review
from tests.e2e.system import System
from tests.pictures import qr_texts
from tests.texts import label, like, says
from tests.waiting import TIMEOUT_SECONDS

session = pytest.mark.asyncio(loop_scope="session")

CODE = re.compile(r"[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}")
TOLD = like("orders.notification.sent_bank")
CAPTION = like("orders.receipt.caption")
TRUE, FALSE = like("orders.verify.true", amount="Rp500,000"), like("orders.verify.false")
REFUSED = like("orders.verify.too_many", again=TIME)
WRONG = "K7QM-2XPA-9RTW"
AGAIN = like("infra.outbox.again")


async def orders(system: System, user: ChatUser, *, holder: str | None = None) -> Json:
    """Go to the invoice, and return the service's order."""
    await tap_to_review(user)
    if holder:
        await tap_change(user, "holder")
        await user.sees(like("checkout.holder.ask"))
        await user.says(holder)
        await user.sees(review_pattern(holder=holder))
    await user.taps(label("checkout.review.confirm"))
    await user.sees(like("orders.card.waiting"))
    return await order_of(system, user)


async def complete_new_order(system: System, user: ChatUser, **answers: str) -> Json:
    """Place and complete an order, and return the message with its receipt."""
    order = await orders(system, user, **answers)
    await system.service.pays(order)
    await complete_order(system, order)
    return await user.sees(CAPTION)


async def all_of(user: ChatUser) -> str:
    """Return the texts of all messages."""
    return "\n".join(map(text_of, await user.messages()))


def code_on(receipt: Json) -> str:
    found = CODE.search(text_of(receipt))
    assert found, receipt
    return found[0]


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
    code = code_on(receipt)
    assert not receipt["sandbox"]["silent"]
    assert re.search(TOLD, text_of(receipt))
    phrase = re.search(like("checkout.phrase.above_the_first", phrase=re.compile("(?P<words>.+?)")), await all_of(emma))
    assert phrase is not None
    forwarded = f"{receipt}"
    assert not any(secret in forwarded for secret in ("567890", "Budi", phrase["words"]))
    assert qr_texts(await emma.scans(receipt)) == [f"https://t.me/kirim_sandbox_bot?start=v_{code.replace('-', '')}"]
    assert await emma.labels_of(receipt) == [label("orders.button.resend"), label("recipients.offer")]
    await sari.says(f"/start v_{code.replace('-', '')}")
    told = await sari.sees(like("orders.verify.true", "id", amount="Rp500.000"))
    for fact in ("BCA · BANK", "••••7890", "B••• S••••••", "WIB", "sats\n"):
        assert fact in told["text"]
    assert says(told["text"], "orders.receipt.name_given", "id")
    assert says(told["text"], "orders.verify.compare", "id")
    assert "567890" not in str(told)
    await emma.sees_times(1, CAPTION)
    assert code not in shared_system.log.read_text()
    assert code.replace("-", "") not in shared_system.log.read_text()


@session
async def test_whoever_was_shown_a_receipt_can_have_it_verified(shared_system: System) -> None:
    code = code_on(await complete_new_order(shared_system, await new_user(shared_system)))
    await asyncio.gather(
        verified_however_one_comes_by_it(shared_system, code),
        everybody_in_a_group_is_answered_and_offered_nothing(shared_system, code),
        who_tries_codes_out_is_stopped_wherever_they_try(shared_system, code),
    )


@session
async def test_the_picture_is_shown_when_it_is_wished_for(shared_system: System) -> None:
    await asyncio.gather(
        comes_again_when_asked_for_and_once_for_a_double_tap(shared_system),
        not_sent_unasked_to_whom_leaves_the_end_to_the_card(shared_system),
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


async def who_tries_codes_out_is_stopped_wherever_they_try(shared_system: System, code: str) -> None:
    emma, sari = await asyncio.gather(new_user(shared_system), new_user(shared_system))
    (sari_there,) = await open_group(shared_system, sari)
    for _ in range(5):
        await sari.says(f"/verify {WRONG}")
        await sari_there.says(f"/verify {WRONG}")
    await sari.sees_times(5, FALSE)
    await sari_there.sees_times(5, FALSE)
    await sari.says(f"/verify {WRONG}")
    await sari.sees(REFUSED)
    await sari_there.says(f"/verify {code}")
    await sari_there.sees(REFUSED)
    await sari.says(f"/start v_{code}")
    await sari.sees(REFUSED)
    await emma.says(f"/verify {code}")
    await emma.sees(TRUE)


async def comes_again_when_asked_for_and_once_for_a_double_tap(shared_system: System) -> None:
    emma, sari = await asyncio.gather(new_user(shared_system), new_user(shared_system))
    order = await orders(shared_system, emma)
    pay = await emma.sees(like("orders.card.waiting"), anywhere=True)
    button = order_button(shared_system, order, OrderAction.RECEIPT)
    assert (await emma.presses(pay, button, force=True))["text"] == label("orders.receipt.not_yet")
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    receipt = await emma.sees(CAPTION)
    first, second = await asyncio.gather(*(emma.presses(receipt, button, force=True) for _ in range(2)))
    assert first["text"] == second["text"] == ""
    await emma.sees_times(2, CAPTION)
    again = (await emma.messages())[-1]
    assert code_on(again) == code_on(receipt)
    await sari.says("/start")
    welcome = await sari.sees(like("users.start.text"))
    assert (await sari.presses(welcome, button, force=True))["text"] == label("orders.stale.not_yours")
    assert await sari.count(CAPTION) == 0
    await emma.taps(label("orders.button.resend"), message=again)
    await emma.sees(review_pattern(number="1234567890"))


async def not_sent_unasked_to_whom_leaves_the_end_to_the_card(shared_system: System) -> None:
    emma = await new_user(shared_system)
    order = await orders(shared_system, emma)
    with closing(sqlite3.connect(shared_system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
        database.execute("UPDATE users SET notification_preferences = ? WHERE id = ?", ('{"sent": "card"}', emma.id))
        database.commit()
    await shared_system.service.pays(order)
    paid = await emma.sees(like("orders.notification.paid"))
    await complete_order(shared_system, order)
    sent = await emma.sees(f"{TOLD}(?s:.*)✅ {like('orders.step.sent')}")
    assert sent["message_id"] == paid["message_id"], "the message about the payment becomes the one that it was sent"
    assert await emma.count(CAPTION) == 0
    await emma.taps(label("orders.button.receipt"))
    await emma.sees(CAPTION)
    assert await emma.count(CAPTION) == 1


async def test_a_kill_around_the_picture_leaves_one_receipt_with_one_code(kirim: System) -> None:
    lost, doubled = await asyncio.gather(new_user(kirim), new_user(kirim))
    placed = [await orders(kirim, user) for user in (lost, doubled)]
    pictures = calls_of(kirim, "sendPhoto")
    async with hold_call(pictures, lost), hold_call(pictures, doubled, "delay_after"):
        for order in placed:
            await kirim.service.pays(order)
            await complete_order(kirim, order)
    await kirim.kill_bot()
    before = codes_of(kirim)
    assert await lost.count(TOLD) == 0
    await clear_faults(kirim)
    await kirim.start_bot()
    for user, times in ((lost, 1), (doubled, 2)):
        await user.sees(f"{CAPTION}(.|\n)*{AGAIN}", anywhere=True)
        receipts = [message for message in await user.messages() if re.search(CAPTION, text_of(message))]
        assert len(receipts) == times
        assert len({code_on(receipt) for receipt in receipts}) == 1
        await user.says(f"/verify {code_on(receipts[-1])}")
        await user.sees(TRUE)
    assert codes_of(kirim) == before
    assert len(before) == 2


def codes_of(system: System) -> list[str]:
    """Return the hashes of all codes."""
    with closing(sqlite3.connect(system.state / "kirim.db")) as database:
        return [row[0] for row in database.execute("SELECT code_hash FROM receipts ORDER BY reference")]

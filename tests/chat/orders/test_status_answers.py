"""What a person types about an order, and what they then see: its status, and what is safe to do."""

import re

import pytest

from tests.e2e.bot_database import change_rows, row_of
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import INVOICE, new_user
from tests.e2e.orders.steps import complete_order, order_of, tap_to_invoice, type_to_invoice
from tests.e2e.support.cards import fail_after_payment, support_group
from tests.e2e.system import System
from tests.pictures import png
from tests.texts import label, like, text

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_any_words_get_the_newest_order(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await tap_to_invoice(shared_system, emma)
    for typed in ("sudah masuk belum", "kok lama", "asdf", "bisa dibantu"):
        asked = await emma.says(typed)
        shown = await emma.sees(like("orders.asked.waiting"))
        assert asked["message_id"] < shown["message_id"]


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("where is my money", "orders.asked.none"),
        ("it hasn't arrived", "orders.asked.none"),
        ("hello", "home.chat.greeting"),
        ("halo kak", "home.chat.greeting"),
        ("asdf", "home.chat.not_understood"),
        ("help", "support.help.text"),
        ("bantuan", "support.help.text"),
        ("how long does it take", "support.help.text"),
        ("send money", "checkout.destination.ask"),
        ("mau kirim uang", "checkout.destination.ask"),
        ("refund my money", "orders.asked.none"),
        ("cancel my order", "orders.asked.none"),
        ("thank you!", "home.chat.thanks"),
    ],
)
async def test_a_user_without_orders_gets_a_plain_sentence(shared_system: System, typed: str, key: str) -> None:
    emma = await new_user(shared_system)
    await emma.says("/start")
    await emma.sees(like("home.start.text"))
    await emma.says(typed)
    await emma.sees(like(key))
    assert await emma.count(like("home.start.text")) == 1


async def test_who_asks_for_a_price_sees_it_with_the_order_that_waits_in_one_line(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await tap_to_invoice(shared_system, emma)
    reference = str(row_of(shared_system, await order_of(shared_system, emma))["reference"])
    await emma.says("how much is 1 million")
    await is_one_line(emma, await emma.sees(like("rates.price", amount="Rp1,000,000")), reference)
    await emma.says("kurs")
    await is_one_line(emma, await emma.sees(like("rates.btc", rate="Rp")), reference)


async def is_one_line(emma: ChatUser, seen: Json, reference: str) -> None:
    """Check that the order in progress is one line and a button of the message."""
    assert f"{reference}\n{text('orders.status.waiting')}" in text_of(seen)
    assert any("Rp500,000 → BCA ••••7890 · " in each for each in await emma.labels_of(seen))


async def test_a_greeting_is_one_line_with_the_order_in_progress_and_without_an_ended_one(
    shared_system: System,
) -> None:
    emma = await new_user(shared_system)
    _, order = await tap_to_invoice(shared_system, emma)
    reference = str(row_of(shared_system, await order_of(shared_system, emma))["reference"])
    for typed, key in (("halo kak", "home.chat.greeting"), ("ok", "home.chat.ok")):
        await emma.says(typed)
        await is_one_line(emma, await emma.sees(f"^{like(key)}\n\n"), reference)
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    await emma.sees(like("orders.notification.sent_bank"), anywhere=True)
    await emma.says("hello")
    await emma.sees(f"^{like('home.chat.greeting')}$")


async def test_a_question_with_an_open_ticket_shows_the_order_and_support_below_it(shared_system: System) -> None:
    emma, _ = await fail_after_payment(shared_system)
    asked = await emma.says("where is my money?")
    shown = await emma.sees(like("orders.asked.failed_paid"))
    offered = await emma.sees(like("support.ticket.for_support"))
    assert asked["message_id"] < shown["message_id"] < offered["message_id"]
    assert offered["reply_to_message"]["message_id"] == asked["message_id"]
    await emma.taps("T-", message=offered)
    await emma.sees(like("support.ticket.added"))
    await support_group(shared_system).sees("where is my money", anywhere=True)


async def test_a_failed_payout_is_in_the_status_until_an_operator_settles_it(shared_system: System) -> None:
    emma, order = await fail_after_payment(shared_system)
    await emma.says("/status")
    listed = await emma.sees(like("orders.status.title"))
    reference = str(row_of(shared_system, order)["reference"])
    assert reference in listed["text"]
    assert text("orders.status.failed_paid") in listed["text"]
    await emma.taps("Rp500,000 → BCA ••••7890 · ", message=listed)
    await emma.sees(like("orders.status_message.failed_paid"))
    settled = "UPDATE alarms SET cleared_at = raised_at WHERE subject = :about"
    assert await change_rows(shared_system, settled, {"about": reference}) == 1
    await emma.says("/status")
    await emma.sees(like("orders.status.none"))


async def test_an_open_ticket_gets_the_question_first(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/help")
    await emma.taps(label("support.button.write_to_us"))
    await emma.sees(like("support.ticket.what_is_wrong"))
    await emma.says("where is my money")  # the answer to support's question
    await emma.sees(like("support.ticket.is_open"))
    await emma.says("where is my money??")
    await emma.sees(like("support.ticket.for_support"))
    assert await emma.count(like("home.chat.not_understood")) == 0


async def test_an_amount_or_a_bank_alone_is_offered_to_support_and_a_whole_line_is_an_order(
    shared_system: System,
) -> None:
    emma, _ = await fail_after_payment(shared_system)
    for typed in ("500rb", "bca", "ibu 500rb"):
        asked = await emma.says(typed)
        offered = await emma.sees(like("support.ticket.for_support"))
        assert offered["reply_to_message"]["message_id"] == asked["message_id"]
    assert await emma.count(like("checkout.destination.ask_again")) == 0
    await emma.says("500rb bca")
    await emma.sees(like("checkout.number.ask_bank"))


async def test_cancel_explains_an_unpaid_and_a_paid_order(shared_system: System) -> None:
    emma = await new_user(shared_system)
    _, order = await tap_to_invoice(shared_system, emma)
    await emma.says("/cancel")
    await emma.sees(like("orders.asked.cancel_unpaid"))
    await shared_system.service.pays(order)
    await emma.sees(like("orders.notification.paid"))
    await emma.says("/cancel")
    await emma.sees(like("orders.asked.cancel_paid"))
    await complete_order(shared_system, order)
    await emma.sees(like("orders.notification.sent_bank"))
    await emma.says("/cancel")
    await emma.sees(like("checkout.draft.nothing_to_cancel"))


async def test_a_pasted_invoice_of_an_order_leads_to_a_wallet(shared_system: System) -> None:
    emma, omar = await new_user(shared_system), await new_user(shared_system)
    pay, _ = await type_to_invoice(shared_system, emma)
    invoice = re.findall(INVOICE, text_of(pay))[0]
    await emma.says(f"lightning:{invoice.upper()}")
    await emma.sees(like("orders.asked.own_invoice"))
    await emma.says(f"pay this please {invoice[:80]}")  # cut off when it was copied
    await emma.sees(like("orders.asked.own_invoice"))
    await omar.says(invoice)
    await omar.sees(like("orders.asked.other_invoice"))
    assert invoice[:40] not in shared_system.read_log()


async def test_a_picture_outside_a_ticket_shows_the_order_and_says_that_nobody_saw_it(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await tap_to_invoice(shared_system, emma)
    await emma.sends_photo(png(20, 20), "paid, see")
    shown = await emma.sees(like("orders.asked.unread_support"))
    assert text("orders.asked.waiting") in shown["text"]
    assert label("orders.button.help") in await emma.labels_of(shown)

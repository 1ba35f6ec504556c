"""Stories after the confirmation: the price, the invoice, paying it in time or too late, and the messages."""

import asyncio
import re
from pathlib import Path

import pytest

from bot.infra.i18n import LOCALES
from tests.chat.system import running_in_process
from tests.e2e.bot_database import expire_order, row_of
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.local_times import move_to_noon
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import (
    ENDED,
    complete_order,
    order_of,
    review_pattern,
    tap_to_invoice,
    tap_to_review,
    type_to_review,
)
from tests.e2e.system import System
from tests.pictures import qr_texts
from tests.texts import label, like, says, starts
from tests.waiting import found

pytestmark = pytest.mark.asyncio(loop_scope="session")

TO_BCA = re.compile(".*BCA ••••7890.*")
TICKET = re.compile("T-[0-9A-Z]{5}")
PRICES = like(
    "orders.notification.price_moved",
    reviewed=re.compile("(?P<before>[0-9,]+) sats"),
    reviewed_idr="Rp500,000",
    locked=re.compile("(?P<locked>[0-9,]+) sats"),
    locked_idr="Rp500,000",
)


async def test_an_order_is_followed_to_its_end_in_the_language_of_its_reader(shared_system: System) -> None:
    await asyncio.gather(follows_by_status(shared_system), sends_in_indonesian(shared_system))


async def follows_by_status(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/status")
    await emma.sees(like("orders.status.none"))
    _, order = await tap_to_invoice(shared_system, emma)
    picture = next(message for message in await emma.messages() if message.get("photo"))
    assert scanned(await emma.scans(picture)) == f"LIGHTNING:{order['invoiceBolt11'].upper()}"
    assert order["invoiceBolt11"] in picture["caption"]
    assert says(picture["caption"], "orders.pay.lightning", sats=f"{order['satAmount']:,} sats")
    assert {"type": "code", "length": len(order["invoiceBolt11"])}.items() <= picture["caption_entities"][-1].items()
    reference = row_of(shared_system, order)["reference"]
    await emma.says("/status")
    await emma.sees(f"Rp500,000 → BCA ••••7890 · {reference}\n{like('orders.status.waiting')}")
    await emma.taps("Rp500,000 → BCA ••••7890 · ")
    again = await emma.sees(like("orders.status_message.waiting"))
    await emma.sees_times(1, "lnbcrt")  # the QR code has moved to the end of the chat
    assert again["message_id"] != picture["message_id"]
    assert scanned(await emma.scans(again)) == scanned(await emma.scans(picture))
    await shared_system.service.pays(order)
    paid = await emma.sees(like("orders.notification.paid"))
    await emma.sees_times(0, "lnbcrt")
    for state, step in (("LN_SWAP_PENDING", "orders.step.converting"), ("IDR_SETTLED", "orders.step.sending")):
        await shared_system.service.does("advance", orderId=order["id"], state=state)
        await emma.sees(f"⏳ {like(step)}", anywhere=True)
    await complete_order(shared_system, order)
    await emma.sees(like("orders.notification.sent_bank"), anywhere=True)
    await emma.sees(ENDED, anywhere=True)
    final = await emma.finds(paid)
    assert final is not None
    assert re.search(ENDED, final["text"])


async def sends_in_indonesian(shared_system: System) -> None:
    sari = await new_user(shared_system, "id")
    await sari.says("/send")
    await sari.sees(like("checkout.destination.ask", "id"))
    await sari.says("dana")
    await sari.sees(like("checkout.number.ask_ewallet", "id"))
    await sari.says("+62 812-0000-1111")
    await sari.sees(like("checkout.holder.ask", "id", recipient="DANA · 081200001111"))
    await sari.says("Budi")
    await sari.sees(like("checkout.amount.ask", "id"))
    await sari.says("150rb")
    await sari.sees(review_pattern("id", amount="Rp150.000", holder="Budi"))
    await sari.taps(label("checkout.review.confirm", "id"))
    await sari.sees(like("orders.pay.lightning", "id", at=re.compile(".* WIB")))
    order = await order_of(shared_system, sari)
    assert order["idrAmount"] == 150_000
    await shared_system.service.pays(order)
    await sari.sees(like("orders.notification.paid", "id"))
    await complete_order(shared_system, order)
    await sari.sees(like("orders.notification.sent_ewallet", "id"), anywhere=True)


async def test_a_worse_price_is_asked_about_before_anything_is_shown(shared_system: System) -> None:
    await shared_system.service.does("settings", lockedPricePercent=5)
    await asyncio.gather(accepts(shared_system), declines(shared_system))


async def test_a_fee_that_the_service_adds_when_it_locks_is_in_the_price_to_pay(tmp_path: Path) -> None:
    # The document doesn't say whether the quote has the fee already. What people read is true either way.
    async with running_in_process(tmp_path, "live") as live:
        await live.service.does("settings", feeOnTop=True)
        emma, sari = await new_user(live), await new_user(live)
        await tap_to_review(emma, amount="Rp100,000")  # 5% more than the quote: asked about
        await emma.taps(label("checkout.review.confirm"))
        asked = text_of(await emma.sees(like("orders.notification.price_moved")))
        await emma.taps(label("orders.button.accept_price"))
        shown = text_of(await emma.sees("lnbcrt"))
        order = await order_of(live, emma)
        sats = f"{order['satAmount']:,} sats"
        assert sats in asked
        assert says(shown, "orders.pay.lightning", sats=sats)
        assert order["idrAmount"] == 100_000
        await type_to_review(sari, amount="1jt")  # 0.5% more: within what a review may differ
        await sari.taps(label("checkout.review.confirm"))
        shown = text_of(await sari.sees("lnbcrt"))
        order = await order_of(live, sari)
        assert order["satAmount"] * float(order["btcIdr"]) / 1e8 >= 1_005_000
        assert says(shown, "orders.pay.lightning", sats=f"{order['satAmount']:,} sats")


async def accepts(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await tap_to_review(emma)
    await emma.taps(label("checkout.review.confirm"))
    asked = await emma.sees(like("orders.notification.price_moved"))
    prices = re.search(PRICES, asked["text"])
    assert prices is not None
    before, locked = prices["before"], prices["locked"]
    assert int(locked.replace(",", "")) > int(before.replace(",", "")) * 1.04
    assert await emma.count("lnbcrt") == 0
    _, drop = await emma.button(label("orders.button.no_thanks"))
    await emma.taps(label("orders.button.accept_price"))
    await emma.sees(like("orders.pay.lightning", sats=f"{locked} sats"))
    await emma.sees(like("orders.status_message.waiting"), anywhere=True)
    await emma.sees_times(2, r"^☑️ .+ → BCA ••••7890 · \w{7}$")  # one line is left of the review, and of the question
    answered = await emma.finds(asked)
    assert answered is not None
    assert answered["text"].startswith("☑️")
    assert starts((await emma.presses(asked, drop, force=True))["text"], "orders.stale.order")
    await emma.sees(like("orders.status_message.waiting"))


async def declines(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await tap_to_review(emma)
    await emma.taps(label("checkout.review.confirm"))
    asked = await emma.sees(like("orders.notification.price_moved"))
    _, accept = await emma.button(label("orders.button.accept_price"))
    await emma.says("/status")
    await emma.sees(like("orders.status.needs_confirmation"))
    await emma.taps(label("orders.button.no_thanks"), message=asked)
    await emma.sees(like("orders.dropped", line=TO_BCA))
    await emma.presses(asked, accept, force=True)
    await emma.sees(like("orders.dropped"))
    assert await emma.count("lnbcrt") == 0


async def test_an_expired_invoice_is_taken_down_and_one_tap_asks_for_a_new_quote(tmp_path: Path) -> None:
    # The live service never fails an order for not being paid.
    async with running_in_process(tmp_path, "live") as live:
        await live.service.does("settings", lockedPricePercent=0.5)
        emma, sari = await new_user(live), await new_user(live)
        (_, order), (_, late) = await tap_to_invoice(live, emma), await tap_to_invoice(live, sari)
        await live.service.does("settings", lockedPricePercent=0)
        await asyncio.gather(expire_order(live, order), expire_order(live, late))
        await asyncio.gather(quotes_anew(emma, order), pays_late(live, sari, late))


async def quotes_anew(emma: ChatUser, order: Json) -> None:
    await emma.sees(like("orders.notification.expired"), anywhere=True)
    await emma.sees_times(0, "lnbcrt")
    await emma.taps(label("orders.button.requote"))
    some = re.compile("[0-9,]+ sats")
    less = like("checkout.requote.costs_less", after=some, before=f"{order['satAmount']:,} sats", difference=some)
    same = review_pattern(amount="Rp500,000", bank="BCA · BANK CENTRAL ASIA", number="1234567890")
    await emma.sees(f"{less}\n\n{same}")
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees("lnbcrt")


async def pays_late(live: System, sari: ChatUser, order: Json) -> None:
    expired = await sari.sees(like("orders.notification.expired"), anywhere=True)
    _, anew = await sari.button(label("orders.button.requote"))
    _, paid = await sari.button(label("orders.button.have_paid"))
    await live.service.does("settings", speedSeconds=None)
    await live.service.pays(order, late=True)
    await sari.sees(like("orders.notification.paid_late"))
    await sari.sees(f"✅ {like('orders.step.paid')}", anywhere=True)
    assert starts((await sari.presses(expired, anew, force=True))["text"], "orders.stale.order")
    await sari.sees(f"✅ {like('orders.step.paid')}")
    await sari.presses(expired, paid, force=True)
    await sari.sees(f"✅ {like('orders.step.paid')}")
    await sari.sees_times(1, f"✅ {like('orders.step.paid')}")
    await complete_order(live, order)
    await sari.sees(like("orders.notification.sent_bank"), anywhere=True)
    await sari.sees_times(0, f"⏳ {like('orders.step.converting')}")


async def test_a_payment_after_the_end_is_told_to_who_presses_i_have_paid(shared_system: System) -> None:
    # The documented service has failed the order by then, and only records the payment.
    oscar = ChatUser(shared_system.telegram, 2001)
    await oscar.says("/start")
    emma = await new_user(shared_system)
    _, order = await tap_to_invoice(shared_system, emma)
    await expire_order(shared_system, order)
    expired = await emma.sees(like("orders.notification.expired"), anywhere=True)
    await emma.sees_times(0, "lnbcrt")
    _, paid = await emma.button(label("orders.button.have_paid"))
    await emma.presses(expired, paid)
    await emma.sees(like("orders.status_message.no_payment_yet"), anywhere=True)
    await shared_system.service.pays(order, late=True)

    async def press() -> object:
        await emma.presses(expired, paid, force=True)
        return row_of(shared_system, order)["is_paid"]

    await found(press, bool, what="the late payment")  # the service lets an order be read once a second
    told = text_of(await emma.sees(like("orders.notification.failed_paid_late"), anywhere=True))
    heading = like("support.ticket.heading", ticket=TICKET)
    assert re.search(f"BCA ••••7890(?s:.*){heading}(?s:.*){like('support.ticket.by_itself_failed')}", told)
    reference = row_of(shared_system, order)["reference"]
    await oscar.sees(f"🚨(?s:.*){reference}", anywhere=True)


async def test_a_failure_says_whether_money_left_and_leads_to_a_user(shared_system: System) -> None:
    rina = ChatUser(shared_system.telegram, 3001)
    await rina.says("/start")
    emma, sari = await new_user(shared_system), await new_user(shared_system, "id")
    await sari.says("/start")
    await sari.taps(label("users.language.other", "id", name=LOCALES["en"].name))
    (_, unpaid), (_, paid) = await tap_to_invoice(shared_system, emma), await tap_to_invoice(shared_system, sari)
    await sari.says("/language")
    await sari.taps("Bahasa Indonesia")
    await shared_system.service.does("fail", orderId=unpaid["id"])
    await emma.sees(like("orders.notification.failed_unpaid"))
    await emma.sees_times(0, "lnbcrt")
    await shared_system.service.pays(paid)
    await sari.sees(like("orders.notification.paid", "id"), anywhere=True)
    await shared_system.service.does("fail", orderId=paid["id"])
    failed = await sari.sees(like("orders.notification.failed_paid", "id"))
    heading, what = like("support.ticket.heading", "id", ticket=TICKET), like("support.ticket.by_itself_failed", "id")
    assert re.search(f"BCA ••••7890(?s:.*){heading}(?s:.*){what}", text_of(failed))
    await sari.taps(label("support.button.write_to_support", "id"), message=failed)
    await sari.sees(f"BCA ••••7890(?s:.*){like('support.ticket.write_more', 'id', ticket=TICKET)}")
    await sari.says("Uangnya ke mana?")
    await sari.sees(like("support.ticket.added", "id", ticket=TICKET))


async def test_what_the_service_refuses_or_falsifies_is_never_to_be_paid(shared_system: System) -> None:
    oscar = ChatUser(shared_system.telegram, 2001)
    await move_to_noon(oscar)
    emma, sari = await new_user(shared_system), await new_user(shared_system)
    await tap_to_review(emma)
    await shared_system.service.fails_with("400", error="<b>closed</b> & gone for today", times=1)
    await emma.taps(label("checkout.review.confirm"))
    quoted = label("orders.refusal.quoted", reason="<b>closed</b> & gone for today")
    await emma.sees(like("orders.notification.refused_because", reason=quoted))
    await emma.taps(label("orders.button.back_to_review"))
    await emma.sees(like("checkout.review.title"))
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    await tap_to_review(sari)
    await shared_system.service.does("settings", wrongInvoice="amount")
    await sari.taps(label("checkout.review.confirm"))
    await sari.sees(like("orders.notification.not_shown"))
    warned = await oscar.sees(like("staff.alarm.invoice_mismatch"))
    assert "1234567890" not in str(warned)
    assert await sari.count("lnbcrt") == 0


def scanned(picture: bytes) -> str:
    """Return what a wallet reads from the QR code."""
    return qr_texts(picture)[0]

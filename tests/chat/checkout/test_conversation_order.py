"""Stories after the confirmation: the price, the invoice, paying it in time or too late, and the messages."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.chat.system import running_in_process
from tests.e2e.bot_database import expire_order
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import (
    complete_order,
    order_of,
    review_pattern,
    tap_to_invoice,
    tap_to_review,
    type_to_review,
)
from tests.e2e.system import System
from tests.texts import label, like, says, starts

pytestmark = pytest.mark.asyncio(loop_scope="session")


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

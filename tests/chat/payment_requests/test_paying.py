"""Emma pays Sari's link. She sees who asks, and never the whole number. Sari hears of it, but not of whom."""

import asyncio
import json
import re

import pytest

from tests.chat.payment_requests.test_asking import LINK, NOTE, NUMBER, asks, has_link
from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, order_of
from tests.e2e.system import System
from tests.texts import label, like, text


async def a_link(user: ChatUser) -> str:
    """Ask for rupiah once, and return the word that opens the link."""
    found = LINK.search(text_of(await has_link(user)))
    assert found is not None
    return found[0].partition("start=")[2]


async def an_open_link(user: ChatUser) -> str:
    """Ask for any sum, many times, and return the word that opens the link."""
    await asks(user)
    await user.taps(label("checkout.review.change"))
    await user.taps(label("checkout.review.edit.amount"))
    await user.taps(label("payment_requests.ask.payer_decides"))
    await user.taps(label("checkout.review.change"))
    await user.taps(label("checkout.review.edit.uses"))
    await user.taps(label("payment_requests.uses.many"))
    await user.taps(label("payment_requests.review.confirm"))
    found = LINK.search(text_of(await user.sees(like("payment_requests.card.caption"))))
    assert found is not None
    return found[0].partition("start=")[2]


async def reports(user: ChatUser, reason: str = "scam") -> None:
    """Report the request that is shown."""
    await user.taps(label("payment_requests.pay.report"))
    await user.sees(like("payment_requests.report.why"))
    await user.taps(label(f"payment_requests.report.{reason}"))
    await user.sees(like("payment_requests.pay.reported"))


async def confirms(user: ChatUser) -> Json:
    """Confirm the review, and return the invoice."""
    await user.taps(label("checkout.review.confirm"))
    return await user.sees(like("orders.pay.lightning"))


@pytest.mark.asyncio(loop_scope="session")
async def test_a_link_is_paid_and_its_asker_hears_of_it(shared_system: System) -> None:
    await asyncio.gather(
        pays_and_is_heard_of(shared_system),
        decides_the_sum(shared_system),
        reports_what_cannot_be_paid(shared_system),
    )


async def pays_and_is_heard_of(system: System) -> None:
    sari, emma = await new_user(system), await new_user(system)
    word = await a_link(sari)
    await emma.says(f"/start {word}")
    review = await emma.sees(like("payment_requests.pay.asker"))
    for shown in ("“Sari Dewi”", NOTE, "BCA", "••••4455", "Rp150,000", "sats", label("payments.channel.lightning")):
        assert shown in text_of(review)
    await confirms(emma)
    order = await order_of(system, emma)
    assert row_of(system, order)["origin"]
    await system.service.pays(order)
    await sari.sees(like("payment_requests.paid"))
    await complete_order(system, order)
    await sari.sees(like("payment_requests.sent"))
    await emma.waits_for(lambda message: bool(message.get("photo")) and "••••4455" in text_of(message))
    await emma.says("/orders")
    await emma.taps("••••4455")
    page = await emma.sees(like("orders.order_page.reference"))
    await emma.presses(page, f"o:{row_of(system, order)['reference']}:resend", force=True)
    await emma.sees(like("payment_requests.pay.paid"))
    reminded = await emma.presses(page, f"o:{row_of(system, order)['reference']}:remind", force=True)
    assert reminded["text"] == text("payment_reminders.not_saved")
    await emma.says("/recipients")
    await emma.says("/privacy")
    await emma.taps(label("users.privacy.see"))
    await emma.sees("••••4455")
    everything = json.dumps(await emma.messages())
    assert NUMBER not in re.sub(r"[ .-]", "", everything)
    assert str(row_of(system, order)["reference"]) not in json.dumps(await sari.messages())


async def decides_the_sum(system: System) -> None:
    sari, emma = await new_user(system), await new_user(system)
    word = await an_open_link(sari)
    await emma.says(f"/start {word}")
    await emma.sees(like("payment_requests.pay.ask_amount"))
    assert label("payment_requests.pay.report") in await emma.buttons()
    await emma.sees(like("payment_requests.pay.trust"))
    await emma.taps(label("checkout.button.cancel"))
    await emma.sees(like("payment_requests.pay.cancelled"))
    await emma.says("hm")
    await emma.sees(like("home.chat.not_understood"))
    await emma.says(f"/start {word}")
    await emma.sees(like("payment_requests.pay.ask_amount"))
    await emma.says("a lot")
    await emma.sees(like("core.amount.unreadable"))
    await emma.says("5rb")
    await emma.sees(like("orders.amount.below_minimum"))
    await emma.says("200rb")
    await emma.sees("Rp200,000")
    await emma.taps(label("payment_requests.pay.other_amount"))
    await emma.taps("Rp100,000")
    await emma.sees(like("payment_requests.pay.asker"))
    await confirms(emma)
    assert (await order_of(system, emma))["idrAmount"] == 100_000


async def reports_what_cannot_be_paid(system: System) -> None:
    sari, emma = await new_user(system), await new_user(system)
    word = await a_link(sari)
    await emma.says("/start r_AAAAAAAAAAAAAAAA")
    await emma.sees(like("payment_requests.pay.unknown"))
    await emma.says(f"/start {word}")
    await emma.sees(like("payment_requests.pay.asker"))
    await emma.taps(label("payment_requests.pay.report"))
    await emma.sees(like("payment_requests.report.why"))
    await emma.taps(label("users.button.back"))
    await emma.sees(like("payment_requests.pay.trust"))
    await reports(emma)
    await sari.taps(label("payment_requests.button.page"))
    await sari.taps(label("payment_requests.button.pause"))
    await sari.sees(like("payment_requests.page.paused"))
    await emma.says(f"/start {word}")
    await emma.sees(like("payment_requests.pay.paused"))

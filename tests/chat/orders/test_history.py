"""The list of orders in pages, the page of an order, and sending to the same recipient again with one tap."""

import asyncio
import base64
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.infra.db.vault import Vault
from bot.orders.buttons import OrderAction
from bot.orders.order import Order, Phase, new_reference
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderStep, PayoutMethod
from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import (
    DESTINATION_QUESTION,
    complete_order,
    order_button,
    review_pattern,
    tap_to_invoice,
)
from tests.e2e.system import System
from tests.orders.builders import an_order
from tests.texts import in_any_language, label, like, starts, text

pytestmark = pytest.mark.asyncio(loop_scope="session")

BCA = PayoutMethod("014", "BANK CENTRAL ASIA", "bank", None)
SENT: Mapping[str, Any] = {"phase": Phase.DONE, "state": "COMPLETED", "step": OrderStep.SENT}


async def save_orders(system: System, user: ChatUser, *orders: Mapping[str, Any]) -> list[Order]:
    """Save orders of another day, an hour apart, as the bot would: one for each mapping, oldest first."""
    days_ago = datetime.now(UTC) - timedelta(days=3)
    keys = [base64.urlsafe_b64decode(key) for key in system.environment["ENCRYPTION_KEYS"].split(",")]
    store = Database(system.environment["DATABASE_URL"], Vault(keys))
    made = []
    try:
        async with store.transaction() as tx:
            for place, changes in enumerate(orders):
                at = days_ago + timedelta(hours=place)
                known = {"method": BCA, "created_at": at, "paid_at": at, "ended_at": at, **SENT}
                whose = {"user_id": user.id, "chat_id": user.id}
                order = an_order(new_reference(), **{**known, **whose, **changes})
                assert await OrderRepository(tx).add(order)
                made.append(order)
    finally:
        await store.close()
    return made


async def open_newest_page(user: ChatUser) -> Json:
    """Open the newest page."""
    await user.says("/orders")
    return await user.sees(in_any_language("orders.history.title"))


async def tap_order(user: ChatUser, reference: str) -> None:
    """Tap the button of an order in the newest list."""
    data = f"o:{reference}:page"
    listed = next(each for each in reversed(await user.messages()) if data in str(each.get("reply_markup")))
    await user.presses(listed, data)


async def open_page(user: ChatUser, reference: str) -> Json:
    """Open an order's page from the list that has it."""
    await tap_order(user, reference)
    return await user.sees(like("orders.order_page.reference", reference=reference))


async def test_one_tap_sends_to_the_same_recipient_again(shared_system: System) -> None:
    await asyncio.gather(
        from_its_notification(shared_system),
        from_history_with_another_draft_open(shared_system),
        at_a_gone_bank(shared_system),
    )


async def from_its_notification(shared_system: System) -> None:
    emma, number = await new_user(shared_system), "7731002202"
    _, order = await tap_to_invoice(shared_system, emma, number=number)
    await shared_system.service.pays(order)
    await complete_order(shared_system, order)
    sent = await emma.sees(like("orders.notification.sent_bank"), anywhere=True)
    again = order_button(shared_system, order, OrderAction.RESEND)  # as under receipts of earlier versions
    await asyncio.gather(*(emma.presses(sent, again, force=True) for _ in range(3)))
    review = await emma.sees(review_pattern(amount="Rp500,000", bank="BCA · BANK CENTRAL ASIA", number=number))
    assert any(starts(review["text"], f"checkout.requote.{how}") for how in ("same", "costs_less", "costs_more"))
    assert await emma.count(like("checkout.review.title")) == 1
    assert await emma.count(like("checkout.draft.replaced")) == 0
    reference = str(row_of(shared_system, order)["reference"])
    await open_newest_page(emma)
    page = await open_page(emma, reference)  # which removes the review's buttons
    # Tap on the page, because a second tap elsewhere within seconds would count as a double tap.
    await emma.taps(label("orders.button.resend"), message=page)
    review = await emma.sees(like("checkout.review.title"))
    assert await emma.count(like("checkout.draft.replaced")) == 0
    await emma.taps(label("checkout.review.confirm"), message=review)
    await emma.sees(like("orders.status_message.waiting"))
    assert len(await shared_system.service.orders(number)) == 2
    assert await emma.finds(sent) is not None


async def from_history_with_another_draft_open(shared_system: System) -> None:
    sari = await new_user(shared_system, "id")
    [old] = await save_orders(shared_system, sari, {"expected_sats": 1})
    await sari.says("/send")
    await sari.sees(like("checkout.destination.ask", "id"))
    await sari.says("ovo")
    await sari.sees(like("checkout.number.ask_ewallet", "id"))
    await open_newest_page(sari)
    assert label("checkout.draft.continue", "id") in await sari.buttons()
    await tap_order(sari, old.reference)
    await sari.sees(like("orders.order_page.reference", "id", reference=old.reference))
    await sari.taps(label("orders.button.resend", "id"))
    review = await sari.sees(like("checkout.review.title", "id"))
    said, difference, title, *_ = review["text"].split("\n")
    assert (said, title) == (text("checkout.draft.replaced", "id"), "")
    some = re.compile("[0-9.]+ sats")
    assert re.fullmatch(
        like("checkout.requote.costs_more", "id", after=some, before="1 sats", difference=some), difference
    )
    assert re.search(review_pattern("id", number="8620123456", holder="SARI DEWI"), review["text"])


async def at_a_gone_bank(shared_system: System) -> None:
    emma = await new_user(shared_system)
    [old] = await save_orders(shared_system, emma, {"method": PayoutMethod("999", "BANK <b>GONE</b>", "bank", None)})
    list_of_one = await open_newest_page(emma)
    await emma.presses(list_of_one, f"o:{old.reference}:resend", force=True)
    await emma.sees(f"^{like('orders.repeat.vanished', name='BANK <b>GONE</b>')}\n\n(?:{DESTINATION_QUESTION})")
    await emma.taps("BCA")
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.says("1234567890")
    await emma.sees(like("checkout.holder.ask"))
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees(review_pattern(amount="Rp250,000", bank="BCA · BANK CENTRAL ASIA"))


async def test_a_strangers_buttons_show_nothing_of_an_order(shared_system: System) -> None:
    emma, sari = await new_user(shared_system), await new_user(shared_system, "id")
    [order] = await save_orders(shared_system, emma, {})
    await save_orders(shared_system, sari, {"number": "7770001111"})
    mine = await open_newest_page(sari)
    for action in ("page", "refresh", "list", "resend", "requote"):
        alien = await sari.presses(mine, f"o:{order.reference}:{action}", force=True)
        assert (alien["text"], alien["show_alert"]) == (label("orders.stale.not_yours", "id"), True)
    await sari.presses(mine, f"h:{order.reference}", force=True)
    await sari.sees("••••1111", anywhere=True)
    assert await sari.count(f"{order.reference}|{like('checkout.review.title', 'id')}") == 0

"""The list of orders in pages, the page of an order, and sending to the same recipient again with one tap."""

import asyncio
import base64
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.infra.db.vault import Vault
from bot.orders.buttons import OrderAction
from bot.orders.order import Order, Phase, new_reference
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderStep, PayoutMethod
from tests.e2e.bot_database import row_of, wait_for_row
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.local_times import DAY, is_today
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import (
    DESTINATION_QUESTION,
    ENDED,
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


def references(message: Json) -> list[str]:
    """Return the orders on a page, in their sequence."""
    return re.findall(r"^([0-9A-Z]{7}) · ", message["text"], re.MULTILINE)


def at_a_time(key: str) -> str:
    """Return the pattern of a line of the timeline, with its day if that changes."""
    day = rf"(?:(?:{re.escape(text('orders.timeline.today'))}|{DAY})\n)?"
    return day + like("orders.timeline.line", at=re.compile(r"\d\d:\d\d WIB"), what=text(key))


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


async def test_all_orders_can_be_leafed_through_while_others_arrive(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/orders")
    await emma.sees(like("orders.history.none"))
    orders = await save_orders(shared_system, emma, *({"number": f"55500000{n:02}"} for n in range(13)))
    newest_first = [order.reference for order in reversed(orders)]
    first = await open_newest_page(emma)
    assert references(first) == newest_first[:6]
    entry = like(
        "orders.history.entry",
        mark="✅",
        amount="Rp250,000",
        destination="BCA ••••0012",
        reference=newest_first[0],
        day=re.compile(DAY),
        state=text("orders.status.sent"),
    )
    assert re.search(entry, first["text"])
    await save_orders(shared_system, emma, {"created_at": datetime.now(UTC)})
    await emma.taps(label("orders.history.older"))
    second = await emma.sees("••••0006")
    assert second["message_id"] == first["message_id"]
    assert references(second) == newest_first[6:12]
    assert label("orders.history.here", first="8", last="13", total="14") in await emma.buttons()
    page = await open_page(emma, newest_first[8])
    assert page["message_id"] == first["message_id"]
    assert "••••0004\nSARI DEWI" in page["text"]
    await emma.taps(label("orders.button.history"))
    assert newest_first[8] in references(await emma.sees(like("orders.history.title")))
    await emma.presses(first, f"h:{newest_first[12]}", force=True)
    assert references(await emma.sees("••••0000")) == newest_first[12:]
    for nobodys in ("h:", "h:999", "h:ZZZZZZZ"):
        await emma.presses(first, nobodys, force=True)
        newest = await emma.waits_for(lambda message: len(references(message)) == 6, anywhere=True)
        assert references(newest)[1:] == newest_first[:5]


async def test_an_order_from_a_link_shows_the_last_digits_and_no_button_fills_in_its_number(
    shared_system: System,
) -> None:
    emma = await new_user(shared_system)
    number = "5550000042"
    (order,) = await save_orders(shared_system, emma, {"number": number, "origin": "a link"})
    await open_newest_page(emma)
    page = await open_page(emma, order.reference)
    assert "••••0042\nSARI DEWI" in page["text"]
    labels = await emma.labels_of(page)
    assert label("orders.button.open_link") in labels
    assert label("orders.button.resend") not in labels
    for action in ("resend", "requote", "link"):
        await emma.presses(page, f"o:{order.reference}:{action}", force=True)
        await emma.sees(like("payment_requests.pay.unknown"))
    assert number not in str(await emma.messages())


async def test_a_page_follows_its_order_and_never_writes_over_what_was_told(shared_system: System) -> None:
    emma = await new_user(shared_system)
    _, order = await tap_to_invoice(shared_system, emma)
    row = row_of(shared_system, order)
    reference, created_at = str(row["reference"]), datetime.fromisoformat(str(row["created_at"])).replace(tzinfo=UTC)
    await emma.says("/status")
    await emma.sees(like("orders.status.waiting"))
    await emma.taps(label("orders.button.history"))
    entry = {"amount": "Rp500,000", "destination": "BCA ••••7890", "reference": reference}
    day = re.compile(f"{re.escape(text('infra.time.today'))}|{DAY}")
    listed = await emma.sees(
        like("orders.history.entry", "en", mark="⏳", state=text("orders.status.waiting"), day=day, **entry)
    )
    assert text("infra.time.today") in text_of(listed) or not is_today(created_at)
    page = await open_page(emma, reference)
    price = text("orders.price.price", price=f"{order['satAmount']:,} sats · {label('payments.channel.lightning')}")
    assert f"{price}\n{text('orders.order_page.rate', rate='Rp')}" in page["text"]
    assert text("orders.order_page.service_id", id=order["id"]) in page["text"]
    assert re.search(
        f"\n\n{at_a_time('orders.timeline.confirmed')}\n{at_a_time('orders.step.created')}\n\n", page["text"]
    )
    payable = await emma.presses(page, f"o:{reference}:resend", force=True)
    assert payable["text"] == label("checkout.repeat.open")
    await emma.sees(like("orders.status_message.waiting"))
    assert await emma.count(like("checkout.review.title")) == 0
    await shared_system.service.pays(order)
    paid = await emma.sees(like("orders.notification.paid"), anywhere=True)
    await emma.taps(label("orders.button.refresh"), message=page)
    heading = like("orders.order_page.heading", mark="⏳", state=text("orders.status.paid"))
    await emma.sees(f"{heading}(?s:.*){like('orders.price.paid')}(?s:.*){at_a_time('orders.step.paid')}\n")
    await complete_order(shared_system, order)
    sent = await emma.sees(like("orders.notification.sent_bank"), anywhere=True)
    await wait_for_row(shared_system, order, phase="done")
    await emma.sees(ENDED, anywhere=True)
    for message in (paid, sent):
        now, known = await emma.finds(message), {each["message_id"] for each in await emma.messages()}
        await emma.presses(message, f"o:{reference}:page", force=True)
        shown = await emma.waits_for(partial(is_page, known=known), what="a page of its own")
        assert await emma.finds(message) == now
    assert await emma.labels_of(shown) == [
        label(f"orders.button.{name}") for name in ("resend", "receipt", "help", "history")
    ]


def is_page(message: Json, known: set[int]) -> bool:
    """Return whether this is the page of a completed order, and a new message."""
    head, end = like("orders.status.sent"), like("orders.status_message.sent_bank")
    page = f"✅ {head}\n(?s:.*){at_a_time('orders.step.sent')}\n\n{end}"
    return message["message_id"] not in known and re.search(page, text_of(message)) is not None


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


async def test_what_cant_be_sent_again_says_why(shared_system: System) -> None:
    emma = await new_user(shared_system)
    forgotten, undecided = await save_orders(
        shared_system,
        emma,
        {"number": "", "holder": None},
        {"phase": Phase.ABANDONED, "state": "", "step": OrderStep.CREATED, "paid_at": None, "ended_at": None},
    )
    await open_newest_page(emma)
    page = await open_page(emma, forgotten.reference)
    assert page["text"].endswith(text("orders.order_page.forgotten"))
    assert label("orders.button.resend") not in await emma.buttons()
    for action in ("resend", "requote"):
        refused = await emma.presses(page, f"o:{forgotten.reference}:{action}", force=True)
        assert refused["show_alert"] == (action == "resend")
    assert refused["text"] == label("orders.stale.order")
    assert await emma.count(like("checkout.review.title")) == 0
    await emma.presses(page, f"o:{undecided.reference}:requote", force=True)
    await emma.sees(like("checkout.review.title"))


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

"""Sari asks for rupiah with a link, shares it, and manages it. Strangers get nowhere with what is hers."""

import asyncio
import re

import pytest

from bot.payment_requests.model import RequestStatus
from bot.payment_requests.repository import PaymentRequestRepository
from tests.e2e.bot_database import open_transaction
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.system import System
from tests.pictures import qr_texts
from tests.texts import label, like

NUMBER = "7731004455"
LINK = re.compile(r"https://t\.me/kirim_sandbox_bot\?start=r_[A-Za-z0-9_-]{16}")
NOTE = "Patungan makan siang"


async def asks(user: ChatUser, *, amount: str = "150rb", name: str = "Sari Dewi", locale: str = "en") -> None:
    """Answer all questions up to the review."""
    await user.says("/request")
    await user.sees(like("checkout.request.destination.ask", locale))
    for line, question in (
        ("bca", "checkout.number.ask_bank"),
        (NUMBER, "checkout.request.holder.ask"),
        (name, "checkout.request.amount.ask"),
        (amount, "payment_requests.ask.note"),
        (NOTE, "payment_requests.ask.uses"),
    ):
        await user.says(line)
        await user.sees(like(question, locale))
    await user.taps(label("payment_requests.uses.once", locale))
    await user.sees(like("payment_requests.review.seen", locale))


async def has_link(user: ChatUser) -> Json:
    """Ask for rupiah, and return the message with the QR code."""
    await asks(user)
    await user.taps(label("payment_requests.review.confirm"))
    return await user.sees(like("payment_requests.card.caption"))


@pytest.mark.asyncio(loop_scope="session")
async def test_a_request_is_asked_for_shared_and_managed(shared_system: System) -> None:
    await asyncio.gather(
        asks_reviews_and_gets_a_link(shared_system),
        leaves_the_sum_to_the_payer_and_changes_answers(shared_system),
        cannot_ask_in_a_false_name_or_with_a_link(shared_system),
        pauses_changes_and_closes_it(shared_system),
        begins_at_a_saved_recipient(shared_system),
        finds_it_inline(shared_system),
        strangers_get_nowhere(shared_system),
    )


async def asks_reviews_and_gets_a_link(system: System) -> None:
    sari = await new_user(system)
    await sari.says("/start")
    await sari.sees(like("home.start.text"))
    await sari.taps(label("payment_requests.button.ask"))
    await sari.sees(like("checkout.request.destination.ask"))
    await asks(sari)
    review = await sari.sees(like("payment_requests.review.seen"), anywhere=True)
    for shown in ("Rp150,000", "Sari Dewi", "BCA", "••••4455", NOTE, "7731 0044 55"):
        assert shown in text_of(review)
    await sari.taps(label("payment_requests.review.confirm"))
    sent = await sari.sees(like("payment_requests.card.caption"))
    found = LINK.search(text_of(sent))
    assert found is not None
    assert NUMBER not in text_of(sent)
    assert qr_texts(await sari.scans(sent)) == [found[0]]
    await sari.sees(like("payment_requests.review.confirmed"), anywhere=True)
    assert await sari.count(like("payment_requests.card.caption")) == 1


async def leaves_the_sum_to_the_payer_and_changes_answers(system: System) -> None:
    sari = await new_user(system, "id")
    await asks(sari, amount="1.500.000", locale="id")
    await sari.taps(label("checkout.review.change", "id"))
    await sari.taps(label("checkout.review.edit.amount", "id"))
    await sari.sees(like("checkout.request.amount.ask", "id"))
    await sari.says("25k sats")
    await sari.sees(like("payment_requests.amount.only_rupiah", "id"))
    await sari.says("1rb")
    await sari.sees(like("orders.amount.below_minimum", "id"))
    await sari.taps(label("payment_requests.ask.payer_decides", "id"))
    await sari.sees(like("payment_requests.review.seen", "id", amount=label("payment_requests.amount.open", "id")))
    await sari.taps(label("checkout.review.change", "id"))
    await sari.taps(label("checkout.review.edit.end", "id"))
    await sari.sees(like("payment_requests.ask.end", "id"))
    await sari.taps("30 ")
    await sari.sees(like("payment_requests.review.seen", "id"))
    await sari.says("/cancel")
    await sari.sees(like("checkout.request.draft.cancelled", "id"))


async def cannot_ask_in_a_false_name_or_with_a_link(system: System) -> None:
    sari = await new_user(system)
    await sari.says("/request")
    for line in ("bca", NUMBER):
        await sari.says(line)
    await sari.sees(like("checkout.request.holder.ask"))
    for name, why in (("Kirim", "ours"), ("Bank Mega", "bank"), ("-", None), ("750rb", None)):
        await sari.says(name)
        await sari.sees(like(f"payment_requests.name.{why}" if why else "recipients.holder.not_a_name"))
    await sari.says("Mega Permata")
    await sari.sees(like("checkout.request.amount.ask"))
    await sari.says("150rb")
    await sari.sees(like("payment_requests.ask.note"))
    for note in ("pay at kirim.example.com", "see @durov", "https://x.id/1", "x" * 141):
        await sari.says(note)
        await sari.sees(like("payment_requests.note.link" if len(note) < 141 else "payment_requests.note.too_long"))
    await sari.taps(label("payment_requests.ask.no_note"))
    await sari.sees(like("payment_requests.ask.uses"))


async def pauses_changes_and_closes_it(system: System) -> None:
    sari = await new_user(system)
    sent = await has_link(sari)
    await sari.taps(label("payment_requests.button.page"), message=sent)
    await sari.sees(like("payment_requests.page.text", state=label("payment_requests.state.open")))
    await sari.taps(label("payment_requests.button.pause"))
    await sari.sees(like("payment_requests.page.text", state=label("payment_requests.state.paused")))
    await sari.taps(label("payment_requests.button.resume"))
    await sari.sees(like("payment_requests.page.text", state=label("payment_requests.state.open")))
    await sari.taps(label("checkout.review.edit.note"))
    await sari.sees(like("payment_requests.ask.note"))
    await sari.says("www.example.com")
    await sari.sees(like("payment_requests.note.link"))
    await sari.says("Iuran RT")
    await sari.sees(like("payment_requests.page.text", note="Iuran RT"))
    await sari.taps(label("checkout.review.edit.end"))
    await sari.taps("7 ")
    await sari.sees(like("payment_requests.page.end_changed"))
    await sari.taps(label("payment_requests.button.close"))
    await sari.taps(label("payment_requests.button.close_sure"))
    await sari.sees(like("payment_requests.page.text", state=label("payment_requests.state.closed")))
    assert await sari.buttons() == [label("payment_requests.button.all")]
    await sari.says("/requests")
    await sari.sees(like("payment_requests.list.ask"))
    assert label("payment_requests.state.closed") in (await sari.buttons())[0]


async def begins_at_a_saved_recipient(system: System) -> None:
    sari = await new_user(system)
    await sari.says(f"/send 150rb bca {NUMBER} Sari Dewi")
    await sari.taps(label("checkout.review.confirm"))
    await sari.sees(r"lnbcrt\w+")
    await sari.says("/recipients")
    await sari.sees(like("recipients.list.ask"))
    await sari.taps("••••4455")
    await sari.taps(label("recipients.receive"))
    await sari.sees(like("checkout.request.amount.ask"))


async def finds_it_inline(system: System) -> None:
    sari, emma = await new_user(system), await new_user(system)
    sent = await has_link(sari)
    link = LINK.search(text_of(sent))
    assert link is not None
    rows = sent["reply_markup"]["inline_keyboard"]
    (query,) = [button["switch_inline_query"] for row in rows for button in row if "switch_inline_query" in button]
    answer = await sari.types_inline(query)
    assert (answer["is_personal"], answer["cache_time"], len(answer["results"])) == (True, 0, 1)
    shared = await sari.sends_result(answer, "Rp150,000 · Sari Dewi")
    assert shared["via_bot"]["username"] == "kirim_sandbox_bot"
    buttons = [button for row in shared["reply_markup"]["inline_keyboard"] for button in row]
    assert [button["url"] for button in buttons] == [link[0]]
    assert NUMBER not in str(shared)
    for text, count in (("", 1), ("makan", 1), ("liburan", 0), ("150rb", 2), ("200rb", 1)):
        assert len((await sari.types_inline(text))["results"]) == count, text
    price = await emma.types_inline("500rb")
    assert [each["title"] for each in price["results"]] == [price["results"][0]["title"]]
    assert price["results"][0]["title"].startswith("Rp500,000 ≈ ")
    assert (await emma.types_inline(query))["results"] == []
    assert (await emma.types_inline(""))["button"]["start_parameter"] == "ask"
    await emma.says("/start ask")
    await emma.sees(like("checkout.request.destination.ask"))


async def strangers_get_nowhere(system: System) -> None:
    sari, emma = await new_user(system), await new_user(system)
    sent = await has_link(sari)
    page = next(
        button["callback_data"]
        for row in sent["reply_markup"]["inline_keyboard"]
        for button in row
        if button["text"] == label("payment_requests.button.page")
    )
    await emma.says("/requests")
    own = await emma.sees(like("payment_requests.list.none"))
    for action in ("show", "card", "pause", "resume", "ask", "close", "note", "unnote", "end", "until:7"):
        pressed = await emma.presses(own, page.replace(":show", f":{action}"), force=True)
        assert pressed["text"] == label("payment_requests.gone"), action
    async with open_transaction(system) as tx:
        (request,) = await PaymentRequestRepository(tx).of_user(sari.id)
        assert (request.status, request.note) == (RequestStatus.OPEN, NOTE)
    assert await emma.count(like("payment_requests.card.caption")) == 0

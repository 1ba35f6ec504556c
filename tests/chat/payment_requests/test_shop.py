"""Sari has a shop. A line at the till is a request with a reference, a card is printed, and the payments are a list."""

import asyncio
import csv
import io

import pytest
from PIL import Image

from tests.chat.payment_requests.test_asking import LINK, has_link
from tests.chat.payment_requests.test_paying import an_open_link, confirms
from tests.chat.system import InProcessSystem
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, order_of
from tests.e2e.system import System
from tests.pictures import qr_texts
from tests.texts import label, like

MILLIMETRES_PER_POINT = 25.4 / 72


async def asks_at_the_till(sari: ChatUser, line: str) -> str:
    """Make a request with one line and one tap, and return the word that opens its link."""
    await sari.says(line)
    await sari.sees(like("payment_requests.review.seen"))
    await sari.taps(label("payment_requests.review.confirm"))
    found = LINK.search(text_of(await sari.sees(like("payment_requests.card.caption"))))
    assert found is not None
    return found[0].partition("start=")[2]


async def pays(system: System, word: str) -> tuple[ChatUser, str, Json]:
    """Open a link as a new user, and pay it. Return the user, what the review said, and the order."""
    emma = await new_user(system)
    await emma.says(f"/start {word}")
    review = text_of(await emma.sees(like("payment_requests.pay.asker")))
    await confirms(emma)
    order = await order_of(system, emma)
    await system.service.pays(order)
    return emma, review, order


async def file_of(user: ChatUser, message: Json) -> tuple[str, bytes]:
    """Return a document's name and content."""
    answer = await user._http.get(f"/sandbox/files/{message['document']['file_id']}")
    return message["document"]["file_name"], answer.raise_for_status().content


@pytest.mark.asyncio(loop_scope="session")
async def test_a_shop_asks_with_one_line_prints_its_card_and_has_its_payments(shared_system: System) -> None:
    await asyncio.gather(
        a_line_is_a_request_with_a_reference_that_both_see(shared_system),
        a_first_line_asks_only_for_what_is_missing(shared_system),
        a_line_can_name_another_account(shared_system),
        a_reference_is_checked_as_a_note(shared_system),
        prints_its_card(shared_system),
    )


async def a_line_is_a_request_with_a_reference_that_both_see(system: System) -> None:
    sari = await new_user(system)
    await has_link(sari)
    word = await asks_at_the_till(sari, "/request 85rb meja 12")
    shown = text_of(await sari.sees(like("payment_requests.card.caption"), anywhere=True))
    assert all(part in shown for part in ("Rp85,000", "meja 12", "••••4455", "Sari Dewi"))
    _, review, order = await pays(system, word)
    assert "“meja 12”" in review
    assert "meja 12" in text_of(await sari.sees(like("payment_requests.paid")))
    await complete_order(system, order)
    await sari.sees(like("payment_requests.sent"))
    other = await asks_at_the_till(sari, "/request 25rb =meja 3")
    await pays(system, other)
    await sari.sees(like("payment_requests.paid"))
    await sari.says("/requests")
    listed = text_of(await sari.sees(like("payment_requests.list.ask")))
    total = like("payment_requests.list.day", day="today", total="Rp110,000", payments="2 payments")
    assert await sari.sees(total)
    assert listed.index("=meja 3") < listed.index("meja 12"), "the newest first"
    await sari.taps(label("payment_requests.button.file"))
    name, content = await file_of(sari, await sari.waits_for(lambda message: "document" in message))
    assert name == "kirim-payments.csv"
    head, newest, first = csv.reader(io.StringIO(content.decode()))
    assert head == ["time", "rupiah", "note", "state", "account"]
    assert newest[1:] == ["25000", "'=meja 3", "not sent yet", "BCA ••••4455"]
    assert first[1:] == ["85000", "meja 12", "sent", "BCA ••••4455"]
    assert first[0].endswith("+07:00")


async def a_first_line_asks_only_for_what_is_missing(system: System) -> None:
    sari = await new_user(system)
    await sari.says("/request 85rb table 7")
    await sari.sees(like("checkout.request.destination.ask"))
    for line, question in (("bca", "checkout.number.ask_bank"), ("7731004455", "checkout.request.holder.ask")):
        await sari.says(line)
        await sari.sees(like(question))
    await sari.says("Sari Dewi")
    review = text_of(await sari.sees(like("payment_requests.review.seen")))
    assert "table 7" in review
    assert label("payment_requests.uses.once") in review


async def a_line_can_name_another_account(system: System) -> None:
    sari = await new_user(system)
    await has_link(sari)
    await sari.says("/request 85rb mandiri 1234567890123 Dewi Sari meja 3")
    review = text_of(await sari.sees(like("payment_requests.review.seen")))
    assert all(part in review for part in ("Mandiri", "••••0123", "Dewi Sari", "meja 3"))
    await sari.says("/request 85rb")
    await sari.sees(like("payment_requests.ask.note"))


async def a_reference_is_checked_as_a_note(system: System) -> None:
    sari = await new_user(system)
    await has_link(sari)
    for line, why in (("Kirim resmi meja 12", "ours"), ("meja 12 www.example.com", "link")):
        await sari.says(f"/request 85rb {line}")
        await sari.sees(like(f"payment_requests.note.{why}"))
    await sari.says("meja 12")
    await sari.sees(like("payment_requests.review.seen"))


async def prints_its_card(system: System) -> None:
    sari = await new_user(system)
    word = await an_open_link(sari)
    await sari.taps(label("payment_requests.button.page"))
    await sari.sees(like("payment_requests.page.text"))
    for paper, size in (("A6", (105, 148)), ("A4", (210, 297))):
        await sari.taps(label("payment_requests.button.print", paper=paper))
        printed = await sari.sees(like("payment_requests.print.caption", paper=paper))
        name, content = await file_of(sari, printed)
        assert name == f"kirim-{paper}.pdf"
        box = content.partition(b"/MediaBox [")[2].partition(b"]")[0].split()
        assert tuple(round(float(each) * MILLIMETRES_PER_POINT) for each in box[2:]) == size
        picture = Image.open(io.BytesIO(content[content.index(b"\xff\xd8\xff") :]))
        assert [text.partition("start=")[2] for text in qr_texts(picture)] == [word]


async def test_a_shop_gets_no_message_about_each_payment_if_it_chooses_so(kirim: InProcessSystem) -> None:
    sari, system = await new_user(kirim), kirim
    await has_link(sari)
    await pays(system, await asks_at_the_till(sari, "/request 85rb meja 1"))
    await sari.sees(like("payment_requests.paid"))
    await sari.says("/requests")
    await sari.taps(label("payment_requests.button.daily"))
    await sari.sees(like("payment_requests.summary.on"))
    emma, _, order = await pays(system, await asks_at_the_till(sari, "/request 35rb meja 2"))
    await complete_order(system, order)
    await emma.sees(like("orders.notification.sent_bank"))
    await sari.says("/requests")
    await sari.sees(f"{label('payment_requests.list.sent')}.*meja 2")
    assert not await sari.count(like("payment_requests.sent"))
    assert await sari.count(like("payment_requests.paid")) == 1
    await sari.taps(label("payment_requests.button.each"))
    await sari.sees(like("payment_requests.summary.off"))
    await pays(system, await asks_at_the_till(sari, "/request 25rb meja 3"))
    await sari.sees(like("payment_requests.paid"))


async def test_nothing_of_a_shop_works_where_requests_are_switched_off(kirim: InProcessSystem) -> None:
    sari = await new_user(kirim)
    await an_open_link(sari)
    await sari.taps(label("payment_requests.button.page"))
    page = await sari.sees(like("payment_requests.page.text"))
    buttons = [
        each["callback_data"]
        for row in page["reply_markup"]["inline_keyboard"]
        for each in row[:2]
        if "callback_data" in each
    ]
    async with kirim.another_bot(PAYMENT_REQUESTS="off"):
        for data in (*(each for each in buttons if ":print:" in each), "pr:all:file", "pr:all:daily"):
            answer = await sari.presses(page, data, force=True)
            assert "document" not in str(answer)
        await sari.says("/request 85rb meja 12")
        await sari.sees(like("home.start.text"))
        assert not any("document" in each for each in await sari.messages())

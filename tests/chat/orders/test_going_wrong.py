"""The payment arrived and no rupiah were sent: the user is notified, and reaches support with one tap."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.chat.system import running_in_process
from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.local_times import TIME
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.orders.stuck_orders import SETTINGS, STUCK, paid, staff_note
from tests.e2e.system import System
from tests.texts import label, like, says

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    async with running_in_process(tmp_path_factory.mktemp("wrong"), **SETTINGS) as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
            await staff.says("/start")
        yield made


async def test_a_payment_that_goes_no_further_is_told_once_and_its_end_comes_as_usual(kirim: System) -> None:
    emma = await new_user(kirim)
    order, reference = await paid(kirim, emma)
    told = await emma.sees(like("orders.notification.overdue", paid=re.compile("[0-9,]+ sats"), at=TIME))
    assert says(text_of(told), "support.ticket.by_itself")
    assert await emma.labels_of(told) == [label("support.button.write_to_support")]
    await emma.sees(like("orders.status_message.overdue"), anywhere=True)
    note = await kirim.oscar.sees(staff_note("stuck", reference), anywhere=True)
    assert "1234567890" not in text_of(note)
    await ask_support(kirim, emma, told, reference)
    await kirim.service.does("advance", orderId=order["id"], state="COMPLETED")
    await emma.sees(like("orders.notification.sent_bank"), anywhere=True)
    assert await emma.count(STUCK) == 1
    assert await kirim.oscar.count(staff_note("stuck", reference)) == 1


async def ask_support(kirim: System, emma: ChatUser, told: Json, reference: str) -> None:
    ticket = re.findall("T-[0-9A-Z]{5}", text_of(told))[0]
    await emma.taps(label("support.button.write_to_support"), message=told)
    question = await emma.sees(like("support.ticket.write_more", ticket=ticket))
    assert says(text_of(question), "support.help.contact_too", contact="@kirim_help", reference=reference)
    links = [entity.get("url") for entity in question["entities"] if entity["type"] == "text_link"]
    assert links == ["https://t.me/kirim_help"]
    await emma.says("Where is it?")
    await emma.sees(like("support.ticket.added", ticket=ticket))
    assert "1234567890" not in str(await ChatUser(kirim.telegram, kirim.rina.id).reads(last=50))


async def test_a_failure_after_the_payment_is_told_by_itself_to_sender_and_staff_in_their_languages(
    kirim: System,
) -> None:
    budi = await new_user(kirim)
    _, order = await tap_to_invoice(kirim, budi)
    reference = str(row_of(kirim, order)["reference"])
    await budi.speaks("id")
    await budi.says("/status")
    await budi.sees(like("orders.status.title", "id"))
    # The bot sees both at once. With time in between, it would first report that the transfer takes long.
    await kirim.service.fails_with("503", method="GET")
    await kirim.service.pays(order)
    await kirim.service.does("fail", orderId=order["id"])
    await kirim.service.heals()
    told = await budi.sees(like("orders.notification.failed_paid", "id"), anywhere=True)
    assert says(text_of(told), "support.ticket.by_itself_failed", "id")
    assert await budi.labels_of(told) == [label("support.button.write_to_support", "id")]
    await kirim.oscar.sees(staff_note("failed", reference), anywhere=True)
    assert await kirim.oscar.count(staff_note("stuck", reference)) == 0


async def test_where_there_are_no_staff_the_contact_is_named(kirim: System) -> None:
    async with kirim.another_bot(OPERATOR_IDS="", SUPPORT_IDS="", SUPPORT_CONTACT="help@kirim.example"):
        nina = await new_user(kirim)
        _, reference = await paid(kirim, nina)
        told = await nina.sees(STUCK)
        assert says(text_of(told), "orders.notification.ask_a_person")
        await nina.taps(label("orders.button.help"), message=told)
        await nina.sees(like("support.help.contact", contact="help@kirim.example", reference=reference))

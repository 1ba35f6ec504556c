"""The payment arrived and no rupiah were sent: the user is notified, and reaches support with one tap."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.chat.system import running_in_process
from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import text_of
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

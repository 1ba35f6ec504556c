"""The payment arrived and no rupiah were sent: the user is notified, and reaches support with one tap."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.e2e.chat_user import text_of
from tests.e2e.faults import assert_copies_are_marked, calls_of, clear_faults, hold_call
from tests.e2e.new_users import new_user
from tests.e2e.orders.stuck_orders import SETTINGS, STUCK, paid, staff_note
from tests.e2e.system import System, running_system

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    async with running_system(tmp_path_factory.mktemp("wrong"), **SETTINGS) as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
            await staff.says("/start")
        yield made


async def test_killed_while_it_tells_the_bot_repeats_what_may_not_have_arrived_and_no_more(kirim: System) -> None:
    sari = await new_user(kirim)
    async with hold_call(calls_of(kirim, "sendMessage"), kirim.oscar):
        _, reference = await paid(kirim, sari)
    await kirim.kill_bot()
    await clear_faults(kirim)
    await kirim.start_bot()
    await kirim.oscar.sees(staff_note("stuck", reference), anywhere=True)
    await sari.sees(STUCK, anywhere=True)
    assert await kirim.oscar.count(staff_note("stuck", reference)) == 1
    # Her message may have been in transit, too. Then it is sent again, with a note that it may be a repetition.
    told = [text_of(message) for message in await sari.messages() if re.search(STUCK, text_of(message))]
    assert_copies_are_marked(told, kills=1)

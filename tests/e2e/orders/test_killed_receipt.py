"""Receipts: one picture for the sender, and the result of its code for anyone, in private chats and in groups."""

import asyncio
import re
import sqlite3
from contextlib import closing

import pytest

from tests.e2e.chat_user import text_of
from tests.e2e.faults import calls_of, clear_faults, hold_call
from tests.e2e.new_users import new_user
from tests.e2e.orders.receipts import TOLD, TRUE, code_on, orders
from tests.e2e.orders.steps import complete_order
from tests.e2e.system import System
from tests.texts import like

session = pytest.mark.asyncio(loop_scope="session")

AGAIN = like("infra.outbox.again")


async def test_a_kill_around_the_picture_leaves_one_receipt_with_one_code(kirim: System) -> None:
    lost, doubled = await asyncio.gather(new_user(kirim), new_user(kirim))
    placed = [await orders(kirim, user) for user in (lost, doubled)]
    pictures = calls_of(kirim, "sendPhoto")
    async with hold_call(pictures, lost), hold_call(pictures, doubled, "delay_after"):
        for order in placed:
            await kirim.service.pays(order)
            await complete_order(kirim, order)
    await kirim.kill_bot()
    before = codes_of(kirim)
    assert await lost.count(TOLD) == 0
    await clear_faults(kirim)
    await kirim.start_bot()
    for user, times in ((lost, 1), (doubled, 2)):
        await user.sees(f"{TOLD}(.|\n)*{AGAIN}", anywhere=True)
        receipts = [message for message in await user.messages() if re.search(TOLD, text_of(message))]
        assert len(receipts) == times
        (code,) = {await code_on(user, receipt) for receipt in receipts}
        await user.says(f"/verify {code}")
        await user.sees(TRUE)
        assert code not in kirim.read_log()
    assert codes_of(kirim) == before
    assert len(before) == 2


def codes_of(system: System) -> list[str]:
    """Return the hashes of all codes."""
    with closing(sqlite3.connect(system.state / "kirim.db")) as database:
        return [row[0] for row in database.execute("SELECT code_hash FROM receipts ORDER BY reference")]

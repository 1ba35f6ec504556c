"""Support and then operators are reminded of a waiting ticket, and staff have their commands in Telegram's menu."""

import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.bot_database import wait_until_all_sent
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.faults import kill_and_restart
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.system import System, running_system
from tests.texts import like, says
from tests.waiting import TIMEOUT_SECONDS, until

TICKET = re.compile("T-[0-9A-Z]{5}")
WAITED = like("support.waiting.head", "id", ticket=TICKET)
LONG = like("support.waiting.long", ticket=TICKET)
OSCAR, RINA = 2001, 3001


@pytest.fixture
async def kirim(tmp_path: Path) -> AsyncIterator[System]:
    """Start a bot that reminds after an hour. `an_hour_passes` lets it pass."""
    async with running_system(tmp_path, TICKET_REMINDER_SECONDS="3600") as made:
        for staff in (made.oscar, made.rina):
            await staff.says("/start")
        yield made


async def fail_after_payment(system: System) -> None:
    _, order = await tap_to_invoice(system, system.emma)
    await system.service.pays(order)
    await system.emma.sees(like("orders.notification.paid"))
    await system.service.does("fail", orderId=order["id"])


async def an_hour_passes(system: System) -> None:
    """Wait until the only ticket waits for a reply, and move its wait back by an hour."""

    async def is_changed() -> bool:
        with closing(sqlite3.connect(system.state / "kirim.db", timeout=TIMEOUT_SECONDS)) as database:
            changed = database.execute(
                "UPDATE tickets SET version = version + 1,"
                " waiting_since = strftime('%Y-%m-%d %H:%M:%f000', waiting_since, '-1 hours'),"
                " reminded_at = strftime('%Y-%m-%d %H:%M:%f000', reminded_at, '-1 hours')"
                " WHERE waiting_since IS NOT NULL"
            ).rowcount
            database.commit()
        return changed == 1

    await until(is_changed, what="a ticket")


async def commands(system: System, scope: str) -> list[str]:
    state = (await system.telegram.get("/sandbox/state")).raise_for_status().json()
    return [each["command"] for each in state["commands"].get(f"{scope}/en", [])]


async def test_support_is_reminded_in_the_ticket_then_the_operators_and_each_once(kirim: System) -> None:
    group = ChatUser(kirim.telegram, RINA, SUPPORT_GROUP_ID)
    await fail_after_payment(kirim)
    await an_hour_passes(kirim)
    reminder = await group.sees(WAITED, anywhere=True)
    card = reminder["reply_to_message"]
    assert says(text_of(card), "support.case.unusual.failed_paid", "id")
    assert reminder["message_thread_id"] == card["message_thread_id"]
    await wait_until_all_sent(kirim, group)
    await an_hour_passes(kirim)
    message = await kirim.oscar.sees(LONG, anywhere=True)
    (button,) = [button for row in message["reply_markup"]["inline_keyboard"] for button in row]
    assert re.fullmatch(r"https://t\.me/c/2000000001/\d+/\d+", button["url"])
    for chat in (group, kirim.oscar):
        await wait_until_all_sent(kirim, chat)
    await kill_and_restart(kirim)
    await kirim.oscar.says("/rate")
    await kirim.oscar.sees(like("rates.btc", rate="Rp"))
    assert (await group.count(WAITED), await kirim.oscar.count(LONG)) == (1, 1)
    assert await kirim.rina.count(f"{WAITED}|{like('support.waiting.long', 'id')}") == 0


async def test_staff_find_what_they_may_do_in_the_menu_and_nobody_else_does(kirim: System) -> None:
    await kill_and_restart(kirim)
    await until(lambda: has(kirim, f"chat:{SUPPORT_GROUP_ID}", "tickets"), what="the group's commands")
    supports = await commands(kirim, f"chat:{RINA}")
    operators = await commands(kirim, f"chat:{OSCAR}")
    everybodys = await commands(kirim, "all_private_chats")
    assert supports[:2] == ["next", "tickets"]
    assert "broadcast" not in supports
    assert operators[:3] == ["status", "find", "broadcast"]
    assert {"audit"} <= set(operators)
    assert {"tickets", "audit", "broadcast"}.isdisjoint(everybodys)
    assert set(everybodys) <= set(supports) & set(operators)


async def has(system: System, scope: str, command: str) -> bool:
    return command in await commands(system, scope)

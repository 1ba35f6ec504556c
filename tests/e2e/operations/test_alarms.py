"""Operators are told what is wrong, once, and that it is over; support and senders have other things to read."""

from functools import partial

import pytest

from tests.e2e.bot_database import wait_for_row, wait_until_all_sent
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.system import System
from tests.texts import label, like, text
from tests.waiting import until

DOWN = like("alarm.service_down")
OVER = like("alarm.over", line=text("alarm.service_down_over"))
SERVICE_IS_DOWN = f"🚨 {like('alarm.service_down_name')}: {like('alarm.service_down_wrong')}\n"
FAILED = like("news.staff_failed")


@pytest.fixture
async def staffed(kirim: System) -> System:
    for user in (kirim.oscar, kirim.rina):
        await user.speaks("en")
        await user.says("/start")
    return kirim


async def test_an_outage_a_failed_order_and_all_of_it_at_a_glance(staffed: System) -> None:
    emma = await new_user(staffed)
    _, order = await tap_to_invoice(staffed, emma)
    await staffed.oscar.says("/status")
    await staffed.oscar.sees(
        f"✅ {like('alarm.service_down_name')}: {like('alarm.service_down_fine')}\n"
        f"✅ {like('alarm.methods_shrunk_name')}: "
    )
    await an_outage_is_told_once_though_the_bot_is_killed_in_it(staffed)
    failed = await a_paid_order_fails(staffed, order)
    await one_operator_sees_to_it(staffed, failed)
    await others_are_not_shown_any_of_it(staffed, emma)


async def an_outage_is_told_once_though_the_bot_is_killed_in_it(kirim: System) -> None:
    await kirim.service.fails_with("503", method="GET", path="/v1")
    await kirim.oscar.sees(DOWN)
    await wait_until_all_sent(kirim, kirim.oscar)
    await kirim.oscar.says("/status")
    await kirim.oscar.sees(SERVICE_IS_DOWN)
    await kirim.kill_bot()
    await kirim.start_bot()
    await kirim.oscar.says("/status")
    await kirim.oscar.sees(SERVICE_IS_DOWN)
    await kirim.service.heals()
    await kirim.oscar.sees(OVER)
    assert (await kirim.oscar.count(f"^🚨 {DOWN}"), await kirim.oscar.count(OVER)) == (1, 1)
    assert await kirim.rina.count(DOWN) == 0


async def a_paid_order_fails(kirim: System, order: Json) -> Json:
    await kirim.service.pays(order)
    await wait_for_row(kirim, order, is_paid=1)
    await kirim.service.does("fail", orderId=order["id"])
    told = await kirim.oscar.sees(FAILED, anywhere=True)
    assert await kirim.rina.count(f"{FAILED}|{like('alarm.order_failed')}") == 0, "support has a ticket"
    return told


async def one_operator_sees_to_it(kirim: System, failed: Json) -> None:
    oscar = kirim.oscar
    await oscar.says("/status")
    status = await oscar.sees(f"🚨 {like('alarm.order_failed_name')}: 1\n")
    answer = await oscar.taps(label("alarm.seen_to"), message=failed)
    assert answer["text"] == label("alarm.noted")
    await oscar.taps(label("button.refresh"), message=status)
    await oscar.sees(f"✅ {like('alarm.order_failed_name')}: 0\n")
    assert await oscar.count(like("alarm.settled")) == 0


async def others_are_not_shown_any_of_it(kirim: System, emma: ChatUser) -> None:
    await emma.says("/status")
    shown = await emma.sees(f"{like('status.title')}|{like('status.none')}")
    await emma.presses(shown, "al:status", force=True)
    assert await emma.count(like("alarm.glance")) == 0
    await until(partial(commands_of_their_own, kirim, kirim.oscar), what="the operator's commands")
    assert not await commands_of_their_own(kirim, emma)


async def commands_of_their_own(kirim: System, user: ChatUser) -> bool:
    token, scope = kirim.environment["TELEGRAM_BOT_TOKEN"], {"type": "chat", "chat_id": user.id}
    answer = await kirim.telegram.post(f"/bot{token}/getMyCommands", json={"scope": scope, "language_code": "en"})
    commands = {each["command"] for each in answer.raise_for_status().json()["result"]}
    return {"broadcast", "stats", "status", "send"} <= commands

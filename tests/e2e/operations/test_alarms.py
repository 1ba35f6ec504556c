"""Operators are notified once of a problem, and of its end. Support agents and users aren't."""

from functools import partial

import pytest

from tests.e2e.bot_database import wait_for_row, wait_until_all_sent
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice
from tests.e2e.system import System
from tests.texts import label, like, text
from tests.waiting import until

DOWN = like("staff.alarm.service_down")
OVER = like("staff.alarm.over", line=text("staff.alarm.service_down_over"))
SERVICE_IS_DOWN = f"🚨 {like('staff.alarm.service_down_name')}: {like('staff.alarm.service_down_wrong')}\n"
FAILED = like("staff.alarm.order_failed")


@pytest.fixture
async def system_with_staff(kirim: System) -> System:
    for user in (kirim.oscar, kirim.rina):
        await user.speaks("en")
        await user.says("/start")
    return kirim


async def test_an_outage_and_a_failed_order_are_reported_and_shown_in_the_status(system_with_staff: System) -> None:
    emma = await new_user(system_with_staff)
    _, order = await tap_to_invoice(system_with_staff, emma)
    await system_with_staff.oscar.says("/status")
    await system_with_staff.oscar.sees(
        f"✅ {like('staff.alarm.service_down_name')}: {like('staff.alarm.service_down_fine')}\n"
        f"✅ {like('staff.alarm.methods_shrunk_name')}: "
    )
    await report_an_outage_once_despite_a_kill(system_with_staff)
    failed = await fail_a_paid_order(system_with_staff, order)
    await resolve_as_one_operator(system_with_staff, failed)
    await check_that_others_see_nothing(system_with_staff, emma)


async def report_an_outage_once_despite_a_kill(kirim: System) -> None:
    await kirim.service.fails_with("503", method="GET", path="/v1")
    await kirim.oscar.sees(DOWN)
    await wait_until_all_sent(kirim, kirim.oscar)
    await kirim.oscar.says("/status")
    await kirim.oscar.sees(SERVICE_IS_DOWN)
    await kirim.kill_bot()
    await kirim.start_bot()
    await kirim.oscar.says("/status")
    await kirim.oscar.sees(SERVICE_IS_DOWN)
    await kirim.oscar.says("/start")
    await kirim.oscar.sees(like("operations.start.wrong", count=1))
    await kirim.service.heals()
    await kirim.oscar.sees(OVER)
    raised = f"^🚨 {like('staff.alarm.todo.service_down')}\n\n{DOWN}"
    assert (await kirim.oscar.count(raised), await kirim.oscar.count(OVER)) == (1, 1)
    assert await kirim.rina.count(DOWN) == 0


async def fail_a_paid_order(kirim: System, order: Json) -> Json:
    await kirim.service.pays(order)
    await wait_for_row(kirim, order, is_paid=1)
    await kirim.service.does("fail", orderId=order["id"])
    reported = await kirim.oscar.sees(FAILED, anywhere=True)
    assert await kirim.rina.count(f"{FAILED}|{like('staff.alarm.order_failed')}") == 0, "support has a ticket"
    return reported


async def resolve_as_one_operator(kirim: System, failed: Json) -> None:
    oscar = kirim.oscar
    await oscar.says("/status")
    status = await oscar.sees(f"🚨 {like('staff.alarm.order_failed_name')}: 1\n")
    await oscar.taps(label("staff.alarm.take"), message=failed)
    await kirim.kill_bot()
    await kirim.start_bot()
    await oscar.taps(label("orders.button.refresh"), message=status)
    status = await oscar.sees(like("staff.alarm.taken", who="Oscar"))
    await oscar.taps(label("staff.alarm.seen_to"), message=failed)
    asked = await oscar.sees(like("staff.alarm.ask_outcome"))
    answer = await oscar.taps(label("staff.alarm.outcome_refunded"), message=asked)
    assert answer["text"] == label("staff.alarm.noted")
    await oscar.taps(label("orders.button.refresh"), message=status)
    await oscar.sees(f"✅ {like('staff.alarm.order_failed_name')}: 0\n")
    assert await oscar.count(like("staff.alarm.settled_by")) == 0


async def check_that_others_see_nothing(kirim: System, emma: ChatUser) -> None:
    await emma.says("/status")
    shown = await emma.sees(f"{like('orders.status.title')}|{like('orders.status.none')}")
    await emma.presses(shown, "al:status", force=True)
    assert await emma.count(like("operations.status.figures")) == 0
    await until(partial(has_operator_commands, kirim, kirim.oscar), what="the operator's commands")
    assert not await has_operator_commands(kirim, emma)


async def has_operator_commands(kirim: System, user: ChatUser) -> bool:
    token, scope = kirim.environment["TELEGRAM_BOT_TOKEN"], {"type": "chat", "chat_id": user.id}
    answer = await kirim.telegram.post(f"/bot{token}/getMyCommands", json={"scope": scope, "language_code": "en"})
    commands = {each["command"] for each in answer.raise_for_status().json()["result"]}
    return {"broadcast", "stats", "status", "send"} <= commands

"""Operators see who is on an alarm, and say how it ended. Of two who press at once, one is on it.

Others can't press, also former operators. What an operator says reaches the customer by a press of support.
"""

import asyncio
from pathlib import Path

from tests.chat.system import running_in_process
from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import text_of
from tests.e2e.new_users import new_user
from tests.e2e.support.cards import fail_after_payment, wait_for_card
from tests.texts import label, like, text


async def test_of_two_operators_one_is_on_an_alarm_and_the_other_sees_who(tmp_path: Path) -> None:
    async with running_in_process(tmp_path, OPERATOR_IDS="2001,3001") as kirim:
        oscar, rina = kirim.oscar, kirim.rina
        for each in (oscar, rina):
            await each.speaks("en")
            await each.says("/start")
        _, order = await fail_after_payment(kirim)
        reference = str(row_of(kirim, order)["reference"])
        alarms = [await each.sees(like("staff.alarm.order_failed"), anywhere=True) for each in (oscar, rina)]
        data = f"al:take:order_failed:{reference}"
        stranger = await new_user(kirim)
        assert (await stranger.presses(await stranger.says("/help"), data, force=True))["text"] == label(
            "users.stale.button"
        )
        pressed = await asyncio.gather(oscar.presses(alarms[0], data), rina.presses(alarms[1], data))
        assert pressed[0]["text"] == pressed[1]["text"], "both read who is on it"
        is_oscar = pressed[0]["text"].startswith("Oscar")
        other = rina if is_oscar else oscar
        told = text_of(await other.sees(like("staff.alarm.taken", who="Oscar" if is_oscar else "Rina"), anywhere=True))
        assert reference in told
        await oscar.says("/status")
        await oscar.sees(like("staff.alarm.taken", who="Oscar" if is_oscar else "Rina"))
        await kirim.stop_bot()
        await kirim.start_bot(OPERATOR_IDS="3001" if is_oscar else "2001")
        former, left = (oscar, rina) if is_oscar else (rina, oscar)
        await left.says("/status")
        await left.sees(like("operations.status.checks"))
        await left.taps(label("staff.alarm.take_all", count=1))
        await left.sees(like("staff.alarm.taken", who="Rina" if is_oscar else "Oscar"))
        under = alarms[0] if is_oscar else alarms[1]
        assert (await former.presses(under, data, force=True))["text"] == label("users.stale.button")


async def test_how_an_order_ended_reaches_the_customer_by_a_press_and_can_be_undone(tmp_path: Path) -> None:
    async with running_in_process(tmp_path, SUPPORT_CHAT_ID="0") as kirim:
        oscar, rina = kirim.oscar, kirim.rina
        for each in (oscar, rina):
            await each.speaks("en")
            await each.says("/start")
        user, order = await fail_after_payment(kirim)
        await wait_for_card(rina, user)
        reference = str(row_of(kirim, order)["reference"])
        alarm = await oscar.sees(like("staff.alarm.order_failed"), anywhere=True)
        assert (await rina.presses(await rina.says("/help"), f"al:done:order_failed:{reference}", force=True))[
            "text"
        ] == label("users.stale.button")
        await oscar.taps(label("staff.alarm.order"), message=alarm)
        page = await oscar.sees(like("support.case.reference", reference=reference))
        assert page["reply_to_message"]["message_id"] == alarm["message_id"], "the alarm and its buttons stay"
        assert "rv:" not in str(page["reply_markup"])
        await oscar.taps(label("staff.alarm.seen_to"), message=alarm)
        await oscar.taps(label("staff.alarm.outcome_refunded"))
        handled = await oscar.sees(like("staff.alarm.handled", reference=reference))
        line = await rina.sees(like("support.staff_ticket.step_handled_refunded"), anywhere=True)
        told = "your payment was given back"
        assert await user.count(told) == 0, "only a person's press tells the customer"
        await rina.taps(label("support.staff.button.ready"), message=line)
        # The start has another button to send, so the preview has to be there first.
        await rina.taps(label("support.saved_reply.send"), message=await rina.sees(told))
        await user.sees(told, anywhere=True)
        await oscar.taps(label("staff.alarm.undo"), message=handled)
        await oscar.sees(like("staff.alarm.order_failed"))
        await rina.sees(like("support.staff_ticket.step_handled_undone"), anywhere=True)
        assert (await oscar.presses(handled, f"al:undo:order_failed:{reference}", force=True))["text"] == label(
            "users.stale.button"
        )
        await oscar.says("/audit")
        shown = text_of(await oscar.sees(like("staff.audit.title")))
        assert shown.index(text("staff.audit.word_undone")) < shown.index(text("staff.audit.word_refunded"))

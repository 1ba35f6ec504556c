"""A paid order failed. Who asks for the money reads what is true, and staff record once how the order ended.

The customer reads how it ended by a person's press. What could be paid is masked in the staff's chats.
"""

import re
from pathlib import Path

import pytest

from tests.chat.system import running_in_process
from tests.e2e.bot_database import row_of
from tests.e2e.chat_user import text_of
from tests.e2e.new_users import new_user
from tests.e2e.support.cards import fail_after_payment, support_group, wait_for_card
from tests.e2e.system import System
from tests.texts import in_any_language, label, like, says, text

ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
LNURL = "lnurl1dp68gurn8ghj7um9wfmxjcm99e3k7mf0v9cxj0m385ekvcenxc6r2c35xvukxefcv5mkvv34x5ekzd3ev56nyd3hxqurzepexejxxepx"


@pytest.mark.parametrize(
    "typed", ["and my money?", "where's my refund", "uang saya gimana?", "terus duitku?", "kok gagal", "💸?", "asdf"]
)
@pytest.mark.asyncio(loop_scope="session")
async def test_who_asks_for_the_money_of_a_failed_order_in_any_words_reads_what_is_known(
    shared_system: System, typed: str
) -> None:
    user, order = await fail_after_payment(shared_system)
    told = await user.sees(like("orders.notification.failed_paid"), anywhere=True)
    assert says(text_of(told), "orders.asked.nothing_needed")
    await user.says(typed)
    answer = text_of(await user.sees(like("orders.asked.failed_paid"), anywhere=True))
    assert says(answer, "orders.asked.support_asks")
    assert says(answer, "orders.asked.nothing_needed")
    assert str(row_of(shared_system, order)["reference"]) in answer
    await user.sees(like("support.ticket.for_support"), anywhere=True)


async def test_an_agent_records_once_how_it_ended_and_tells_the_customer_by_a_press(tmp_path: Path) -> None:
    async with running_in_process(tmp_path, SUPPORT_CHAT_ID="0") as kirim:
        oscar, rina = kirim.oscar, kirim.rina
        for each in (oscar, rina):
            await each.speaks("en")
            await each.says("/start")
        user, order = await fail_after_payment(kirim)
        reference = str(row_of(kirim, order)["reference"])
        card = await wait_for_card(rina, user)
        await rina.taps(label("support.staff_ticket.record_outcome"), message=card)
        question = await rina.sees(like("support.staff.ask_outcome"))
        press = f"tk:{text_of(question)[:7]}:endas:refunded"
        stranger = await new_user(kirim)
        await stranger.presses(await stranger.says("/help"), press, force=True)
        assert row_of(kirim, order)["outcome"] is None
        await rina.taps(label("staff.alarm.outcome_not_refunded"), message=question)
        recorded = await rina.sees(like("support.staff_ticket.step_handled_not_refunded"))
        assert row_of(kirim, order)["outcome"] == "not_refunded"
        assert (await rina.presses(recorded, press, force=True))["text"] == label("staff.alarm.ended_already")
        assert reference in text_of(await oscar.sees(text("staff.audit.word_not_refunded"), anywhere=True))
        told = f"We've checked order {reference} with our payment partner: your payment was given back"
        assert await user.count("We've checked order") == 0, "only a person's press tells the customer"
        await user.says("and my money?")
        await user.sees(like("orders.asked.support_knows"), anywhere=True)
        await rina.taps(label("staff.alarm.undo"), message=recorded)
        await rina.sees(like("support.staff_ticket.step_handled_undone"))
        assert row_of(kirim, order)["outcome"] is None
        await oscar.sees(like("staff.alarm.todo.order_failed"), anywhere=True)
        await rina.presses(recorded, press, force=True)
        recorded = await rina.sees(like("support.staff_ticket.step_handled_refunded"))
        outcome = text("staff.alarm.outcome_refunded")
        card = await rina.waits_for(lambda m: says(text_of(m), "support.case.outcome", outcome=outcome), anywhere=True)
        assert label("support.staff.button.ready") in await rina.labels_of(card)
        assert label("support.staff_ticket.record_outcome") not in await rina.labels_of(card)
        await rina.taps(label("support.staff.button.ready"), message=recorded)
        preview = await rina.sees(like("support.saved_reply.preview"))
        await rina.taps(label("support.saved_reply.send"), message=preview)
        await user.sees(re.escape(told), anywhere=True)


async def test_what_a_customer_pastes_to_be_paid_is_masked_and_the_card_says_who_decides(tmp_path: Path) -> None:
    async with running_in_process(tmp_path) as kirim:
        group, warning = support_group(kirim), in_any_language("support.staff_ticket.has_payee")
        user, _ = await fail_after_payment(kirim)
        card = await wait_for_card(group, user)
        assert not re.search(warning, text_of(card))
        told = await user.sees(like("orders.notification.failed_paid"), anywhere=True)
        written = await user.says("Please send it to my wallet", reply_to=told)
        await group.sees("Please send it to my wallet", anywhere=True)
        await user.edits(written, f"Please send it to {ADDRESS} or {LNURL} or emma@wallet.example")
        await group.sees("Please send it to 0x52…9EE7 or lnur…xepx or e…@…", anywhere=True)
        await group.sees(warning, anywhere=True)
        everything = "\n".join(await group.reads(last=200))
        assert ADDRESS not in everything
        assert LNURL not in everything

"""A ticket in the chats of support: its card with the whole case, in a topic, a plain group or private chats."""

from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.support.cards import fail_after_payment, is_card, support_group, topics, wait_for_card
from tests.e2e.support.tickets import CARD
from tests.e2e.system import System
from tests.texts import like


async def test_kill_9_between_a_topic_and_its_card_opens_no_second_topic(kirim: System) -> None:
    group = support_group(kirim)
    async with hold_call(calls_of(kirim, "sendMessage"), group):
        user, _ = await fail_after_payment(kirim)
    await kill_and_restart(kirim)
    await wait_for_card(group, user)
    assert len(await topics(kirim)) == 1
    assert await group.count(CARD) == 1


async def test_an_answer_to_a_card_that_a_kill_kept_from_being_known_is_not_silently_lost(kirim: System) -> None:
    group = support_group(kirim)
    async with hold_call(calls_of(kirim, "sendMessage"), group, "delay_after"):
        user, _ = await fail_after_payment(kirim)
    first = await group.waits_for(is_card, anywhere=True)
    await kill_and_restart(kirim)
    again = await group.waits_for(lambda m: is_card(m) and m["message_id"] != first["message_id"], anywhere=True)
    assert again["message_thread_id"] == first["message_thread_id"]
    await group.says("On its way", reply_to=first)
    await group.sees(like("support.staff.not_passed_on", "id"))
    await group.says("It arrives today", reply_to=again)
    await user.sees("It arrives today", anywhere=True)
    assert await user.count("On its way") == 0

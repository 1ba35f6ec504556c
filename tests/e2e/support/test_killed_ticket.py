"""A ticket in the chats of support: its card with the whole case, in a topic, a plain group or private chats."""

from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.support.cards import fail_after_payment, support_group, topics, wait_for_card
from tests.e2e.support.tickets import CARD
from tests.e2e.system import System


async def test_kill_9_between_a_topic_and_its_card_opens_no_second_topic(kirim: System) -> None:
    group = support_group(kirim)
    async with hold_call(calls_of(kirim, "sendMessage"), group):
        user, _ = await fail_after_payment(kirim)
    await kill_and_restart(kirim)
    await wait_for_card(group, user)
    assert len(await topics(kirim)) == 1
    assert await group.count(CARD) == 1

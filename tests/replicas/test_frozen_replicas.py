"""Replicas that freeze, or get no answer from PostgreSQL, for longer than their leases last, and then go on."""

import pytest

from tests.e2e.faults import ORDERS, count_posts
from tests.replicas.audit import audit
from tests.replicas.cluster import ANSWERED_AFTER, Cluster
from tests.replicas.journeys import QUESTIONS, new_journey
from tests.replicas.replica import Replica
from tests.texts import like
from tests.waiting import until

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]


async def loses_its_chats(replica: Replica, before: int) -> None:
    """Wait until a replica has noticed that its leases have ended."""

    async def has_noticed() -> bool:
        return len(replica.lines("chat_leases_lost")) > before

    await until(has_noticed, what=f"the loss of the chats of {replica.name}")


async def test_a_frozen_replica_does_not_turn_a_conversation_back_when_it_wakes(cluster: Cluster) -> None:
    journey, other = await new_journey(cluster.system), await new_journey(cluster.system)
    await journey.chat.says("/send")
    await journey.chat.sees(QUESTIONS[0])
    # The replica freezes after it has asked below what was typed, and before it has saved that it asked.
    where = {"chat_id": journey.chat.id, "times": 1, "seconds": ANSWERED_AFTER}
    await cluster.system.telegram_fails("delay_after", "sendMessage", **where)
    await journey.chat.says("bca")
    await journey.chat.sees(QUESTIONS[1])
    leader = await cluster.leader()
    frozen = await cluster.owner_of(journey.chat.id)
    lost = len(frozen.lines("chat_leases_lost"))
    for each in {leader, frozen}:
        each.freeze()
    failed_at = await cluster.now()
    # Other replicas ask again, in a new message, handle the answer, and do what the leader did.
    await journey.chat.sees_times(2, QUESTIONS[1])
    await journey.chat.says(journey.sender.number)
    await journey.chat.sees(QUESTIONS[2])
    await other.goes_to_review()
    for each in {leader, frozen}:
        each.thaw()
    await cluster.leader_is_followed(leader, failed_at)
    await loses_its_chats(frozen, lost)
    await journey.goes_on_to_review()
    await journey.goes_on_from_review()
    assert (await audit(cluster, [journey, other])).broken == []


async def test_an_order_is_posted_once_although_its_replica_freezes_during_the_request(cluster: Cluster) -> None:
    journey = await new_journey(cluster.system)
    await journey.goes_to_review()
    posts = await count_posts(cluster.system)
    await cluster.system.service.fails_with("delay_after", path=ORDERS, seconds=ANSWERED_AFTER, times=1)
    await journey.confirms()
    await journey.sender.has_order()
    frozen = await cluster.owner_of(journey.chat.id)
    frozen.freeze()
    # Another replica handles the next message. It can't know the answer, and must not ask the service again.
    await journey.chat.says("/help")
    await journey.chat.sees(like("support.help.text"))
    assert await cluster.owner_of(journey.chat.id) is not frozen
    frozen.thaw()
    await journey.gets_invoice()
    await journey.pays()
    await journey.gets_rupiah_sent()
    assert await count_posts(cluster.system) == posts + 1
    assert (await audit(cluster, [journey])).broken == []


async def test_a_replica_without_answers_from_postgresql_stops_until_they_come(cluster: Cluster) -> None:
    journey = await new_journey(cluster.system)
    await journey.chat.says("/send")
    await journey.chat.sees(QUESTIONS[0])
    stalled = await cluster.owner_of(journey.chat.id)
    await cluster.becomes_ready(stalled, ready=True)
    stalled.relay.stall()
    await journey.chat.says("bca")
    await journey.chat.sees(QUESTIONS[1])
    assert await cluster.owner_of(journey.chat.id) is not stalled
    await cluster.becomes_ready(stalled, ready=False)
    stalled.relay.resume()
    await cluster.becomes_ready(stalled, ready=True)
    await journey.chat.says(journey.sender.number)
    await journey.goes_on_to_review()
    await journey.goes_on_from_review()
    assert (await audit(cluster, [journey])).broken == []

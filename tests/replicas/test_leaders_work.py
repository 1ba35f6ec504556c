"""Work that goes over many chats, beside three replicas: a broadcast whose leader is killed, and deleted users."""

import asyncio

import pytest

from tests.e2e.broadcasts.subscribers import (
    add_confirmed_broadcast,
    add_subscribers,
    count_messages,
    find_unknown,
    wait_for_live_message,
    wait_for_report,
    wait_until_reached,
)
from tests.replicas.audit import audit
from tests.replicas.cluster import Cluster
from tests.replicas.journeys import Journey, new_journeys
from tests.texts import label, like
from tests.waiting import found

pytestmark = [pytest.mark.process, pytest.mark.asyncio(loop_scope="module")]

READERS, REACHED = 120, 30
WAIT = """CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$"""
HOLD_PAID = """CREATE TRIGGER hold_paid BEFORE INSERT ON outbox FOR EACH ROW
WHEN (NEW.kind = 'paid' AND NEW.chat_id = {}) EXECUTE FUNCTION wait()"""
"""Lets the transaction of a message about a payment wait when the message has its id."""

HELD = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted"
USER_TABLES = {
    "users": "id",
    "recipients": "user_id",
    "drafts": "user_id",
    "orders": "user_id",
    "outbox": "chat_id",
}


async def test_a_broadcast_goes_on_after_its_leader_is_killed_and_reaches_nobody_twice(cluster: Cluster) -> None:
    system = cluster.system
    await system.oscar.says("/start")
    readers = await add_subscribers(system, READERS)
    broadcast = await add_confirmed_broadcast(system)
    await wait_for_live_message(system, broadcast)
    await wait_until_reached(system, readers, REACHED)
    killed = await cluster.leader()
    await killed.kill()
    failed_at = await cluster.now()
    report = await wait_for_report(system, broadcast)
    await cluster.leader_is_followed(killed, failed_at)
    reached = await count_messages(system, readers)
    unknown = await find_unknown(system, broadcast)
    assert set(reached.values()) == {1}
    assert set(readers) - reached.keys() <= unknown, "nobody is left out but who is listed"
    assert report["delivered"] + len(unknown) == READERS
    assert len(reached) > REACHED


async def rows_of(cluster: Cluster, user_id: int) -> dict[str, int]:
    counted = {
        table: (await cluster.query(f"SELECT count(*) AS rows FROM {table} WHERE {column} = $1", user_id))[0]["rows"]  # noqa: S608
        for table, column in USER_TABLES.items()
    }
    return {table: rows for table, rows in counted.items() if rows}


async def is_deleted(cluster: Cluster, journey: Journey) -> None:
    chat = journey.chat
    await chat.says("/privacy")
    await chat.sees(like("users.privacy.text"))
    await chat.taps(label("users.privacy.delete"))
    await chat.sees(like("users.privacy.confirm"))
    assert (await rows_of(cluster, chat.id)).keys() >= {"users", "recipients", "orders"}
    await chat.taps(label("users.privacy.yes"))
    await chat.sees(like("users.privacy.deleted"))
    await found(lambda: rows_of(cluster, chat.id), lambda rows: not rows, what="the end of their rows")


async def test_users_are_deleted_beside_three_replicas_and_leave_no_row(cluster: Cluster) -> None:
    journeys = await new_journeys(cluster.system, 2)
    await asyncio.gather(*(each.walks() for each in journeys))
    await cluster.becomes_idle()
    await asyncio.gather(*(is_deleted(cluster, each) for each in journeys))
    assert (await audit(cluster, journeys)).broken == []


async def test_a_message_that_is_committed_after_later_ones_is_sent(cluster: Cluster) -> None:
    first, later = await new_journeys(cluster.system, 2)
    await asyncio.gather(first.goes_to_review(), later.goes_to_review())
    await first.confirms()
    await first.gets_invoice()
    await cluster.query(WAIT)
    await cluster.query(HOLD_PAID.format(first.chat.id))
    await cluster.query("SELECT pg_advisory_lock(1)")
    assert first.order is not None
    await cluster.system.service.pays(first.order)
    await found(lambda: cluster.query(HELD), bool, what="the message about the payment has its id")
    await later.confirms()
    await later.gets_invoice()
    assert await cluster.query(HELD), "it is committed after the later invoice was sent"
    await cluster.query("SELECT pg_advisory_unlock(1)")
    await asyncio.gather(first.gets_rupiah_sent(), later.pays())
    await later.gets_rupiah_sent()
    assert (await audit(cluster, [first, later])).broken == []

"""Broadcasts on both databases: saved with all fields, only over the revision that was read, and found again."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from bot.broadcasts.model import Audience, Broadcast, BroadcastStatus
from bot.broadcasts.repository import BroadcastRepository
from bot.infra.db.database import Database
from bot.settlement.model import Quote
from tests.times import NOW, SECOND

OSCAR, OLGA = 2001, 2002
QUOTE = Quote(Decimal("1666666666.6600"), NOW, Decimal("16234.50"), "an exchange")


def a_broadcast(broadcast_id: str = "b1", **changes: Any) -> Broadcast:
    """Return a draft of Oscar's."""
    known: dict[str, Any] = {"operator_id": OSCAR, "created_at": NOW}
    return Broadcast(**{**known, "id": broadcast_id, **changes})


WHOLE = a_broadcast(
    status=BroadcastStatus.DONE,
    revision=7,
    is_rate=False,
    texts={"en": "<b>{rate}</b> 🏦", "id": "halo \u202e"},
    picture="chart:week",
    audience=Audience(locale="id", active_days=30),
    quote=QUOTE,
    starts_at=NOW,
    daily_minute=420,
    series="b0",
    confirmed_at=NOW + SECOND,
    confirmed_by=2**52,
    started_at=NOW + 2 * SECOND,
    ended_at=NOW + 3 * SECOND,
    chat_id=2**52,
    size=10_000,
    message_id=12,
    report={"delivered": 9_999, "blocked": 1},
)


async def add_broadcasts(store: Database, *broadcasts: Broadcast) -> None:
    async with store.transaction() as tx:
        for each in broadcasts:
            await BroadcastRepository(tx).add(each)


async def test_of_two_who_save_over_the_same_revision_one_is_first(store: Database, other_store: Database) -> None:
    await add_broadcasts(store, a_broadcast())
    async with store.transaction() as tx:
        saved = await BroadcastRepository(tx).save(replace(WHOLE, revision=0))
    async with other_store.transaction() as tx:
        assert await BroadcastRepository(tx).save(a_broadcast(picture="p")) is None
    async with store.reading() as tx:
        assert saved == replace(WHOLE, revision=1) == await BroadcastRepository(tx).get("b1")


async def test_those_that_were_confirmed_are_listed_newest_first_in_pages(store: Database) -> None:
    statuses = [status for status in BroadcastStatus if status not in {"draft", "discarded"}]
    await add_broadcasts(
        store,
        a_broadcast("draft"),
        a_broadcast("discarded", status=BroadcastStatus.DISCARDED),
        *(
            a_broadcast(str(number), status=status, created_at=NOW + number * SECOND)
            for number, status in enumerate(statuses)
        ),
    )
    async with store.reading() as tx:
        assert await BroadcastRepository(tx).count() == len(statuses)
        assert [each.id for each in await BroadcastRepository(tx).newest()] == ["4", "3", "2", "1", "0"]
        assert [each.id for each in await BroadcastRepository(tx).newest(2, 2)] == ["2", "1"]


async def test_operators_decide_while_the_leader_moves_on(store: Database) -> None:
    await add_broadcasts(store, a_broadcast(status=BroadcastStatus.RUNNING))
    async with store.transaction() as tx:
        read = await BroadcastRepository(tx).get("b1")
        assert read is not None
        await BroadcastRepository(tx).set_next_reader("b1", 7)
        assert await BroadcastRepository(tx).save(replace(read, status=BroadcastStatus.PAUSED)) is not None
        paused = await BroadcastRepository(tx).get("b1")
    assert paused is not None
    assert (paused.status, paused.next_reader) == (BroadcastStatus.PAUSED, 7)

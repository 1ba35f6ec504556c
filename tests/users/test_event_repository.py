"""Events of users are read as they were recorded, on both databases, and are deleted when they are old."""

from typing import Any

from bot.infra.db.database import Database
from bot.users.model import RecordedEvent
from bot.users.repository import UserEventRepository
from tests.times import NOW, SECOND

EMMA, SARI = 1001, 1002


def an_event(what: str, second: int = 0, **changes: Any) -> RecordedEvent:
    return RecordedEvent(**{"user_id": EMMA, "reference": "R1", "at": NOW + SECOND * second, "event": what, **changes})


async def record(store: Database, *events: RecordedEvent) -> None:
    async with store.transaction() as tx:
        for event in events:
            await UserEventRepository(tx).add(event)


async def test_an_orders_events_come_with_those_about_none_from_its_beginning_on(store: Database) -> None:
    none: dict[str, Any] = {"reference": ""}
    await record(
        store,
        an_event("pressed.look", 3),
        an_event("blocked", 2, **none),
        an_event("blocked", -1, **none),  # before the order
        an_event("pressed.early", -1),  # of the order itself, whenever
        an_event("pressed.other", 1, reference="R2"),
        an_event("pressed.hers", 1, user_id=SARI),
    )
    async with store.reading() as tx:
        found = await UserEventRepository(tx).find_by_order(EMMA, "R1", NOW)
        newest = await UserEventRepository(tx).find_by_user(EMMA, 2)
    assert [event.event for event in found] == ["pressed.early", "blocked", "pressed.look"]
    assert found[-1] == an_event("pressed.look", 3)
    assert [event.event for event in newest] == ["pressed.look", "blocked"]


async def test_events_of_one_moment_stay_in_their_order(store: Database) -> None:
    await record(store, *(an_event(f"act {number}") for number in range(5)))
    async with store.reading() as tx:
        assert [event.event for event in await UserEventRepository(tx).find_by_order(EMMA, "R1", NOW)] == [
            f"act {n}" for n in range(5)
        ]


async def test_old_events_are_deleted(store: Database) -> None:
    await record(store, an_event("old", -2), an_event("older", -9), an_event("new"))
    async with store.transaction() as tx:
        assert await UserEventRepository(tx).delete_before(NOW) == 2
        assert [event.event for event in await UserEventRepository(tx).find_by_user(EMMA)] == ["new"]

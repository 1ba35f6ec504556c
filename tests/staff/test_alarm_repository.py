"""Alarms on both databases: one is open for each kind and subject, and a cleared alarm stays cleared."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.staff.alarm_model import Alarm, AlarmKind
from bot.staff.alarm_repository import AlarmRepository
from tests.times import NOW, SECOND


def an_alarm(kind: AlarmKind = AlarmKind.ORDER_FAILED, subject: str = "ABC2345", **changes: Any) -> Alarm:
    return Alarm(**{"kind": kind, "subject": subject, "raised_at": NOW, **changes})


async def add_alarms(store: Database, *alarms: Alarm) -> list[bool]:
    async with store.transaction() as tx:
        return [await AlarmRepository(tx).add(alarm) for alarm in alarms]


async def open_alarms(store: Database) -> tuple[Alarm, ...]:
    async with store.reading() as tx:
        return await AlarmRepository(tx).open()


async def save_alarm(store: Database, alarm: Alarm) -> bool:
    async with store.transaction() as tx:
        return await AlarmRepository(tx).save(alarm)


@pytest.mark.parametrize("kind", AlarmKind)
async def test_what_is_raised_is_open_as_it_was_raised(store: Database, kind: AlarmKind) -> None:
    facts = {"before": 120, "now": 0, "since": NOW.isoformat(), "complaint": "29,412 sats \u2260 \x00 \ud800"}
    assert await add_alarms(store, an_alarm(kind, facts=facts)) == [True]
    (found,) = await open_alarms(store)
    assert found.id
    assert replace(found, id=0) == an_alarm(kind, facts=facts)


async def test_one_of_a_kind_and_subject_is_open_at_a_time(store: Database) -> None:
    other_subject, other_kind = an_alarm(subject="DEF2345"), an_alarm(AlarmKind.ORDER_STUCK)
    added = await add_alarms(store, an_alarm(), an_alarm(raised_at=NOW + SECOND), other_subject, other_kind)
    assert added == [True, False, True, True]
    assert len(await open_alarms(store)) == 3


async def test_an_alarm_that_is_over_may_be_raised_anew(store: Database) -> None:
    await add_alarms(store, an_alarm())
    (first,) = await open_alarms(store)
    assert await save_alarm(store, replace(first, cleared_at=NOW + SECOND))
    assert await open_alarms(store) == ()
    assert await add_alarms(store, an_alarm(raised_at=NOW + SECOND * 2)) == [True]
    (second,) = await open_alarms(store)
    assert second.id != first.id


async def test_its_facts_its_reminder_and_its_end_are_kept_and_nothing_else_of_it(store: Database) -> None:
    await add_alarms(store, an_alarm())
    (found,) = await open_alarms(store)
    changed = replace(found, facts={"count": 7}, reminded_at=NOW + SECOND)
    assert await save_alarm(store, replace(changed, subject="ANOTHER", raised_at=NOW + SECOND))
    assert await open_alarms(store) == (changed,)


async def test_what_is_over_stays_over_whoever_saves_what_they_read_before(store: Database) -> None:
    await add_alarms(store, an_alarm())
    (found,) = await open_alarms(store)
    assert await save_alarm(store, replace(found, cleared_at=NOW + SECOND))
    assert not await save_alarm(store, replace(found, reminded_at=NOW + SECOND))
    assert not await save_alarm(store, replace(found, cleared_at=NOW + SECOND * 9))
    assert await open_alarms(store) == ()
    async with store.reading() as tx:
        assert [alarm.cleared_at for alarm in await AlarmRepository(tx).since(NOW)] == [NOW + SECOND]


async def test_the_oldest_open_one_comes_first_and_the_newest_of_a_while(store: Database) -> None:
    ages = (30, 10, 20)
    await add_alarms(store, *(an_alarm(subject=f"AGE{age}", raised_at=NOW - SECOND * age) for age in ages))
    assert [alarm.subject for alarm in await open_alarms(store)] == ["AGE30", "AGE20", "AGE10"]
    async with store.reading() as tx:
        since = await AlarmRepository(tx).since(NOW - SECOND * 20)
    assert [alarm.subject for alarm in since] == ["AGE10", "AGE20"]


async def test_two_processes_raise_one_and_one_of_them_clears_it(store: Database, other_store: Database) -> None:
    both = [store, other_store] * 5
    raised = await asyncio.gather(*(add_alarms(each, an_alarm()) for each in both))
    assert sum(sum(each) for each in raised) == 1
    (found,) = await open_alarms(store)
    cleared = await asyncio.gather(*(save_alarm(each, replace(found, cleared_at=NOW + SECOND)) for each in both))
    assert cleared.count(True) == 1

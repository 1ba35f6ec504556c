"""Alarms and entries of the audit log are read as they were saved."""

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.staff.model import Alarm, AlarmKind, AuditAction, AuditEntry
from bot.staff.repository import AlarmRepository, AuditRepository
from bot.support.model import SavedReply
from bot.support.repository import SavedReplyRepository
from tests.times import NOW, SECOND


def an_alarm(kind: AlarmKind = AlarmKind.ORDER_FAILED, subject: str = "ABC2345", **changes: Any) -> Alarm:
    return Alarm(**{"kind": kind, "subject": subject, "raised_at": NOW, **changes})


async def add_alarms(store: Database, *alarms: Alarm) -> list[bool]:
    async with store.transaction() as tx:
        return [await AlarmRepository(tx).add(alarm) for alarm in alarms]


async def open_alarms(store: Database) -> tuple[Alarm, ...]:
    async with store.reading() as tx:
        return await AlarmRepository(tx).find_open()


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
        assert [alarm.cleared_at for alarm in await AlarmRepository(tx).find_since(NOW)] == [NOW + SECOND]


async def test_what_is_urgent_and_free_comes_first(store: Database) -> None:
    kinds = (AlarmKind.PICTURE_REFUSED, AlarmKind.ORDER_STUCK, AlarmKind.ORDER_FAILED)
    await add_alarms(store, *(an_alarm(kind, raised_at=NOW + SECOND * at) for at, kind in enumerate(kinds)))
    async with store.transaction() as tx:
        await AlarmRepository(tx).take(AlarmKind.ORDER_STUCK, "ABC2345", OSCAR, NOW)
    assert [alarm.kind for alarm in await open_alarms(store)] == [kinds[2], kinds[0], kinds[1]]


async def test_the_oldest_open_one_comes_first_and_the_newest_of_a_while(store: Database) -> None:
    ages = (30, 10, 20)
    await add_alarms(store, *(an_alarm(subject=f"AGE{age}", raised_at=NOW - SECOND * age) for age in ages))
    assert [alarm.subject for alarm in await open_alarms(store)] == ["AGE30", "AGE20", "AGE10"]
    async with store.reading() as tx:
        since = await AlarmRepository(tx).find_since(NOW - SECOND * 20)
    assert [alarm.subject for alarm in since] == ["AGE10", "AGE20"]


async def test_two_processes_raise_one_and_one_of_them_clears_it(store: Database, other_store: Database) -> None:
    both = [store, other_store] * 5
    raised = await asyncio.gather(*(add_alarms(each, an_alarm()) for each in both))
    assert sum(sum(each) for each in raised) == 1
    (found,) = await open_alarms(store)
    cleared = await asyncio.gather(*(save_alarm(each, replace(found, cleared_at=NOW + SECOND)) for each in both))
    assert cleared.count(True) == 1


RINA, OSCAR, EMMA, SARI = 3001, 2001, 1001, 1002


def an_entry(second: int = 0, **changes: Any) -> AuditEntry:
    known: dict[str, Any] = {"actor_id": RINA, "action": AuditAction.LOOKED, "subject": "order:R1", "user_id": EMMA}
    return AuditEntry(**{**known, "at": NOW + SECOND * second, **changes})


async def add_entries(store: Database, *entries: AuditEntry) -> None:
    async with store.transaction() as tx:
        for entry in entries:
            await AuditRepository(tx).add(entry)


async def get_page(store: Database, **wanted: Any) -> list[AuditEntry]:
    async with store.reading() as tx:
        return list(await AuditRepository(tx).page(**wanted))


@pytest.mark.parametrize("action", AuditAction)
async def test_an_entry_is_read_as_it_was_recorded(store: Database, action: AuditAction) -> None:
    entry = an_entry(action=action, detail="the bank asks — «Sari»")
    await add_entries(store, entry)
    (found,) = await get_page(store)
    assert re.fullmatch(r"20260301T093000123456-[0-9a-f]{8}", found.id)
    assert replace(found, id="") == entry


async def test_the_log_is_read_backwards_in_pages_that_new_entries_do_not_move(store: Database) -> None:
    await add_entries(store, *(an_entry(second) for second in range(5)))
    first = await get_page(store, limit=2)
    await add_entries(store, an_entry(9))
    second = await get_page(store, before=first[-1].id, limit=2)
    third = await get_page(store, before=second[-1].id, limit=2)
    assert [(entry.at - NOW).seconds for entry in (*first, *second, *third)] == [4, 3, 2, 1, 0]


async def test_many_entries_of_one_moment_are_all_there(store: Database) -> None:
    await add_entries(store, *(an_entry(detail=str(number)) for number in range(7)))
    seen: list[AuditEntry] = []
    while more := await get_page(store, before=seen[-1].id if seen else "", limit=2):
        seen += more
    assert sorted(entry.detail for entry in seen) == list("0123456")


async def test_the_entries_of_one_actor_are_theirs_alone(store: Database) -> None:
    await add_entries(store, an_entry(0), an_entry(1, actor_id=OSCAR), an_entry(2), an_entry(3, actor_id=OSCAR))
    found = await get_page(store, actor_id=OSCAR)
    assert [(entry.actor_id, (entry.at - NOW).seconds) for entry in found] == [(OSCAR, 3), (OSCAR, 1)]
    assert len(await get_page(store, actor_id=OSCAR, before=found[0].id)) == 1
    assert await get_page(store, actor_id=77) == []


async def test_the_log_of_a_period_is_read_forwards_in_batches(store: Database) -> None:
    await add_entries(store, *(an_entry(second) for second in range(-1, 4)))
    async with store.reading() as tx:
        first = await AuditRepository(tx).between(NOW, NOW + SECOND * 3, "", 2)
        rest = await AuditRepository(tx).between(NOW, NOW + SECOND * 3, first[-1].id, 9)
    assert [(entry.at - NOW).total_seconds() for entry in (*first, *rest)] == [0, 1, 2]


def test_entries_are_added_and_read_and_nothing_else() -> None:
    """Check that the repository has no method that changes or deletes entries."""
    methods = {name for name, each in vars(AuditRepository).items() if callable(each) and not name.startswith("_")}
    assert methods == {"add", "page", "between"}


async def test_saved_answers_are_listed_by_name_replaced_and_deleted(store: Database) -> None:
    def answer(name: str, text: str) -> SavedReply:
        return SavedReply(name=name, texts={"en": text, "id": f"{text} {{amount}}"}, updated_at=NOW, updated_by=RINA)

    async with store.transaction() as tx:
        for name in ("wait", "bank", "übrig"):
            await SavedReplyRepository(tx).save(answer(name, "please wait 🙏"))
    async with store.transaction() as tx:
        await SavedReplyRepository(tx).save(replace(answer("bank", "ask your bank"), updated_by=OSCAR))
        assert await SavedReplyRepository(tx).delete("wait")
        assert not await SavedReplyRepository(tx).delete("wait")
    async with store.reading() as tx:
        assert [each.name for each in await SavedReplyRepository(tx).all()] == ["bank", "übrig"]
        assert await SavedReplyRepository(tx).get("bank") == replace(answer("bank", "ask your bank"), updated_by=OSCAR)
        assert await SavedReplyRepository(tx).get("wait") is None


async def test_entries_of_one_moment_stay_in_their_order(store: Database) -> None:
    await add_entries(store, *(an_entry(detail=str(number)) for number in range(9)))
    assert [entry.detail for entry in await get_page(store, limit=9)] == [str(number) for number in reversed(range(9))]

"""What staff do is recorded in the same transaction, and can be read in pages and as a file."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from bot.core.csv import CsvFile
from bot.core.date_ranges import Period, Span, get_recent_span
from bot.core.zones import PRESUMED
from bot.infra.db.errors import StoreDown
from bot.operations.service import StatisticsService
from bot.staff import audit as module
from bot.staff.alarms import raise_order_alarm
from bot.staff.audit import PAGE_SIZE, STAFF_TERMS, AuditLog, AuditTerms, name_as_written, record_audit
from bot.staff.model import AlarmKind, AuditAction, AuditEntry
from bot.staff.repository import AuditRepository
from tests.orders.order_system import EMMA, OSCAR, OrderSystem
from tests.users.stored_data import delete_user

RINA = 3001
HOUR = timedelta(hours=1)


@pytest.fixture
def audit_log(system: OrderSystem) -> AuditLog:
    return AuditLog(system.store, system.clock)


async def view_orders(system: OrderSystem, count: int, *, by: int = RINA) -> None:
    """Record views of so many orders, a second apart."""
    for number in range(count):
        system.clock.passes(seconds=1)
        async with system.store.transaction() as tx:
            subject = f"order:R{number:06}"
            now, why = system.clock.now(), f"={number}"
            await record_audit(tx, by, AuditAction.LOOKED, subject, now, user_id=EMMA, detail=why)


async def raise_alarm(system: OrderSystem, reference: str) -> None:
    """Raise an alarm about an order."""
    async with system.store.transaction() as tx:
        await raise_order_alarm(tx, AlarmKind.ORDER_FAILED, reference, system.clock.now(), ())


async def all_entries(system: OrderSystem) -> list[AuditEntry]:
    async with system.store.reading() as tx:
        return list(await AuditRepository(tx).page(limit=1000))


async def test_the_newest_come_first_and_each_page_begins_where_the_one_before_ended(
    system: OrderSystem, audit_log: AuditLog
) -> None:
    await view_orders(system, 2 * PAGE_SIZE + 3)
    found, page = [], await audit_log.get_page()
    while True:
        found.append(len(page.entries))
        if not page.older:
            break
        await view_orders(system, 1)  # a new entry doesn't move the pages
        following = await audit_log.get_page(page.older)
        assert following.entries[0].at < page.entries[-1].at
        page = following
    assert found == [PAGE_SIZE, PAGE_SIZE, 3]
    assert page.entries[-1].subject == "order:R000000"
    assert not page.is_newest


async def test_a_full_last_page_has_none_behind_it(system: OrderSystem, audit_log: AuditLog) -> None:
    await view_orders(system, PAGE_SIZE)
    page = await audit_log.get_page()
    assert (len(page.entries), page.older, page.is_newest) == (PAGE_SIZE, "", True)


async def test_the_entries_of_one_member_of_staff_are_theirs_alone(system: OrderSystem, audit_log: AuditLog) -> None:
    await view_orders(system, 3)
    await view_orders(system, 2, by=OSCAR)
    assert {entry.actor_id for entry in (await audit_log.get_page(actor_id=OSCAR)).entries} == {OSCAR}
    assert len((await audit_log.get_page(actor_id=RINA)).entries) == 3
    assert (await audit_log.get_page(actor_id=4_444)).entries == ()


async def test_the_file_has_every_entry_of_its_time_oldest_first_and_nothing_to_calculate(
    system: OrderSystem, audit_log: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_SIZE", 2)
    await view_orders(system, 5)
    made = await audit_log.export(get_recent_span(Period.DAY, system.clock.now() + HOUR, PRESUMED), OSCAR)
    assert made.content is not None
    rows = list(csv.DictReader(io.StringIO(made.content.decode(), newline="")))
    assert [row["subject"] for row in rows] == [f"order:R{number:06}" for number in range(5)]
    assert [row["detail"] for row in rows] == [f"'={number}" for number in range(5)], "not a formula"
    assert {(row["actor_id"], row["action"], row["person_id"]) for row in rows} == {(str(RINA), "looked", str(EMMA))}
    assert all(datetime.fromisoformat(row["at"]).tzinfo == UTC for row in rows)
    newest = (await all_entries(system))[0]
    assert (newest.actor_id, newest.action, newest.subject) == (OSCAR, AuditAction.EXPORTED, module.LOG_SUBJECT)


async def test_no_file_where_there_is_nothing_or_too_much(
    system: OrderSystem, audit_log: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_ago = Span((datetime(2001, 1, 1, tzinfo=UTC), datetime(2001, 1, 2, tzinfo=UTC)))
    assert await audit_log.export(long_ago, OSCAR) == CsvFile(0, None)
    await view_orders(system, 3)
    monkeypatch.setattr(module, "MAX_ENTRIES", 2)
    assert await audit_log.export(get_recent_span(Period.DAY, system.clock.now() + HOUR, PRESUMED), OSCAR) == CsvFile(
        3, None
    )
    assert AuditAction.EXPORTED not in {entry.action for entry in await all_entries(system)}


async def test_an_export_of_orders_is_recorded_with_its_period(system: OrderSystem) -> None:
    await system.place()
    span = get_recent_span(Period.DAY, system.clock.now() + HOUR, PRESUMED)
    made = await StatisticsService(system.store, system.settlement, system.clock).export_orders(span, OSCAR)
    assert made.content is not None
    (entry,) = await all_entries(system)
    assert (entry.actor_id, entry.action, entry.subject) == (OSCAR, AuditAction.EXPORTED, "orders:")
    assert entry.detail == f"{span.since.isoformat(timespec='seconds')}/{span.until.isoformat(timespec='seconds')}"


async def test_a_resolved_alarm_is_recorded_once_with_the_user_concerned(system: OrderSystem) -> None:
    order = await system.place()
    await raise_alarm(system, order.reference)
    assert await system.monitor.resolve(AlarmKind.ORDER_FAILED, order.reference, OSCAR)
    assert not await system.monitor.resolve(AlarmKind.ORDER_FAILED, order.reference, OSCAR)
    (entry,) = await all_entries(system)
    assert entry.subject == f"alarm:order_failed:{order.reference}"
    assert (entry.actor_id, entry.user_id, entry.detail) == (OSCAR, EMMA, "settled")


async def test_what_cant_be_recorded_isnt_done(system: OrderSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: object) -> None:
        raise StoreDown

    order = await system.place()
    await raise_alarm(system, order.reference)
    monkeypatch.setattr(AuditRepository, "add", fails)
    with pytest.raises(StoreDown):
        await system.monitor.resolve(AlarmKind.ORDER_FAILED, order.reference, OSCAR)
    assert len(await system.alarms.find_open()) == 1


async def test_a_deleted_user_is_removed_but_what_staff_did_stays(system: OrderSystem, audit_log: AuditLog) -> None:
    await view_orders(system, 2)
    async with system.store.transaction() as tx:
        await delete_user(tx, EMMA)
    entries = (await audit_log.get_page()).entries
    assert [(entry.actor_id, entry.subject) for entry in entries] == [(RINA, "order:R000001"), (RINA, "order:R000000")]
    assert {(entry.user_id, entry.detail) for entry in entries} == {(0, "")}
    made = await audit_log.export(get_recent_span(Period.DAY, system.clock.now() + HOUR, PRESUMED), OSCAR)
    assert made.content is not None
    assert str(EMMA) not in made.content.decode()


def test_two_features_cannot_have_subjects_of_the_same_kind() -> None:
    with pytest.raises(ValueError, match="alarm"):
        _ = STAFF_TERMS | AuditTerms(subjects={"alarm": name_as_written})

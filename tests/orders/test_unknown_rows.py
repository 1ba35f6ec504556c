"""Rows that this version doesn't know, or that are damaged, hold up nothing. Only damaged ones are given up."""

import pytest

from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable, UnknownValue
from bot.infra.db.fence import LeaseLost
from bot.infra.db.vault import UnknownKey
from bot.infra.outbox.model import Notification, NotificationStatus, Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.operations.database_commands import BY_OPERATOR, FAILS, WORKS, set_aside
from bot.orders.notifications import AboutOrder
from bot.staff.model import AlarmKind
from tests.orders.order_system import EMMA, OrderSystem

SUBJECT = "about:this"


async def add_messages(system: OrderSystem, *kinds: str) -> None:
    now = system.clock.now()
    rows = [
        Notification(
            chat_id=EMMA,
            subject=SUBJECT,
            kind=kind,
            payload=AboutOrder("R2345AB"),
            queue=Queue.EXTRA if kind == "receipt" else Queue.URGENT,
            due_at=now,
            created_at=now,
        )
        for kind in kinds
    ]
    async with system.sql.transaction() as tx:
        await OutboxRepository(tx).add(rows)


async def messages(system: OrderSystem) -> tuple[Notification[object], ...]:
    async with system.sql.reading() as tx:
        return await OutboxRepository(tx).find_by_subject(SUBJECT)


async def test_a_message_that_this_version_does_not_know_waits_unchanged_until_an_operator_decides(
    system: OrderSystem, file: str
) -> None:
    await add_messages(system, "unheard_of", "paid", "receipt")
    before, *_ = await messages(system)
    system.sender.outcomes[EMMA].append(UnknownValue("a value of another version"))
    for _ in range(3):
        await system.deliver()
        system.clock.passes(days=40)
    assert system.sender.kinds() == ["paid", "receipt"]
    unknown, *_ = await messages(system)
    assert unknown == before
    await system.monitor.report_rows()
    alarm = next(alarm for alarm in await system.alarms.find_open() if alarm.kind is AlarmKind.ROW_UNREADABLE)
    assert alarm.facts["rows"] == f"outbox {unknown.id}"
    said = list[str]()
    for code in (WORKS, FAILS):
        assert await set_aside(Database(file), "outbox", unknown.id, said.append) == code
    assert said == [f"outbox {unknown.id} is set aside.", f"outbox {unknown.id} doesn't wait. Nothing was changed."]
    unknown, *_ = await messages(system)
    assert (unknown.status, unknown.failure) == (NotificationStatus.UNDELIVERABLE, BY_OPERATOR)


async def test_a_message_whose_subject_has_an_unknown_key_is_neither_given_up_nor_counted(system: OrderSystem) -> None:
    await add_messages(system, "paid")
    system.sender.outcomes[EMMA].append(UnknownKey("0a1b2c3d"))
    assert issubclass(UnknownKey, LeaseLost)
    await system.delivery.start_due()
    await system.delivery.wait_until_sent()
    (message,) = await messages(system)
    assert (message.status, message.attempts, message.maybe_sent) == (NotificationStatus.WAITING, 0, False)


@pytest.mark.parametrize("table", ["orders", "ticket_entries", "users"])
async def test_a_damaged_row_of_any_table_holds_up_no_chat(system: OrderSystem, table: str) -> None:
    await add_messages(system, "checking", "paid")
    damaged = RowUnreadable("changed or moved")
    damaged.table = table
    system.sender.outcomes[EMMA].append(damaged)
    await system.deliver()
    assert system.sender.kinds() == ["paid"]
    first, _ = await messages(system)
    assert (first.status, first.failure) == (NotificationStatus.UNDELIVERABLE, f"a row of {table} can't be read")

"""A reconciliation beside the parts of a process that handle orders."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.operations.reconciliation.model import ALARM_OF, DifferenceKind, Run
from bot.operations.reconciliation.service import ReconciliationService
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.settlement.model import OrderReport, OrderRequest
from bot.staff.model import AlarmKind
from tests.orders.order_system import OSCAR, REQUEST, OrderSystem


def reconciliation_of(system: OrderSystem, settlement: Any = None) -> ReconciliationService:
    """Return the reconciliation of a process."""
    return ReconciliationService(
        system.infra,
        replace(system.access, settlement=settlement or system.settlement),
        system.tracker,
        frozenset({OSCAR}),
    )


async def reconcile(system: OrderSystem, *, after: float = 60, settlement: Any = None) -> Run:
    """Run one after so many seconds, and send the notifications."""
    system.clock.passes(seconds=after)
    run = await reconciliation_of(system, settlement).run()
    await system.deliver()
    return run


async def alarms(system: OrderSystem) -> set[tuple[AlarmKind, str]]:
    """Return the open alarms of reconciliations, by kind and order."""
    return {(alarm.kind, alarm.subject) for alarm in await system.alarms.find_open() if alarm.kind in ALARM_OF.values()}


def found(run: Run) -> set[tuple[DifferenceKind, str]]:
    """Return the differences of a run, by kind and order."""
    return {each.key for each in run.differences}


def make_orders_of_others(
    system: OrderSystem, count: int, *, every: float = 30, request: OrderRequest = REQUEST
) -> None:
    """Let another program with our key create orders."""
    for _ in range(count):
        system.clock.passes(seconds=every)
        system.service.make(request)


async def pay(system: OrderSystem, order: Order, *states: str) -> Order:
    """Let the service move an order through these states, each of which is polled."""
    for state in states or ("LN_INVOICE_PAID",):
        system.service.becomes(order.service_id or "", state)
        await system.poll()
    return await system.order(order.reference)


async def change_row(system: OrderSystem, order: Order, **changes: Any) -> Order:
    """Change an order's row, as no code of the bot would."""
    current = await system.order(order.reference)
    async with system.store.transaction() as tx:
        saved = await OrderRepository(tx).save(replace(current, **changes))
    assert saved is not None
    return saved


def change_record(system: OrderSystem, order: Order, **changes: Any) -> OrderReport:
    """Change the service's record of an order."""
    records, service_id = system.service.records, order.service_id or ""
    records[service_id] = replace(records[service_id], **changes)
    return records[service_id]


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)

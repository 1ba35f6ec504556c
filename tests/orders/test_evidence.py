"""What the service reports about an order is kept as evidence, once, with when it was first seen."""

from datetime import timedelta
from typing import Any

from sqlalchemy import select

from bot.orders.evidence import (
    NAMES,
    add_evidence,
    last_value,
)
from bot.orders.order import Order
from bot.orders.tables import orders
from bot.settlement.model import OrderReport, ServiceRecord
from tests.orders.order_system import OrderSystem
from tests.screens import NOW
from tests.settlement.builders import a_report as built_report
from tests.settlement.fake_settlement import FakeSettlement

RECORD = ServiceRecord(partner_redeem_id="redeem_1", partner_amount_idr=500_000, merchant_name="WARUNG SARI")


def a_report(record: ServiceRecord = RECORD, **changes: Any) -> OrderReport:
    return built_report(**{"state": "IDR_SETTLED", "record": record, **changes})


def values_of(order: Order) -> dict[str, object]:
    return {name: last_value(order.evidence, name) for name in NAMES if last_value(order.evidence, name) is not None}


async def stored(system: OrderSystem, reference: str) -> str | None:
    async with system.store.reading() as tx:
        row = await tx.connection.execute(select(orders.c.evidence).where(orders.c.reference == reference))
        return row.scalar_one()  # type: ignore[no-any-return]


def test_each_value_is_kept_once_with_when_it_was_first_seen() -> None:
    first = add_evidence((), a_report(paid_at=NOW), NOW)
    assert [(each.name, each.value) for each in first] == [
        ("partner_redeem_id", "redeem_1"),
        ("partner_amount_idr", 500_000),
        ("merchant_name", "WARUNG SARI"),
        ("invoice_paid_at", NOW),
    ]
    assert {each.seen_at for each in first} == {NOW}
    assert add_evidence(first, a_report(paid_at=NOW), NOW + timedelta(hours=1)) is first
    assert add_evidence(first, built_report(), NOW) is first


async def test_evidence_is_saved_with_the_report_that_brought_it(system: OrderSystem, service: FakeSettlement) -> None:
    order = await system.place()
    service.becomes("svc-1", "IDR_SETTLED", record=RECORD)
    await system.poll()
    saved = await system.order(order.reference)
    assert saved.state == "IDR_SETTLED"
    assert saved.payout_reference == "redeem_1"
    assert {"partner_amount_idr": 500_000, "merchant_name": "WARUNG SARI"}.items() <= values_of(saved).items()
    assert "redeem_1" not in (await stored(system, order.reference) or "")


async def test_what_the_service_adds_after_the_end_is_kept_when_support_asks(
    system: OrderSystem, service: FakeSettlement
) -> None:
    order = await system.place()
    service.becomes("svc-1", "FAILED", paid_at=service.now())
    await system.poll()
    assert (await system.order(order.reference)).payout_reference is None
    after = await system.apply_report(order.reference, a_report(state="FAILED"))
    assert after is not None
    assert after.payout_reference == "redeem_1"
    assert (await system.order(order.reference)) == after
    again = await system.apply_report(order.reference, a_report(state="FAILED"))
    assert again == after, "another report of the same changes nothing"
    await system.apply_report(order.reference, a_report(ServiceRecord(ln_swap_id="x"), service_id="svc-2"))
    assert (await system.order(order.reference)) == after, "another order's details are never added"

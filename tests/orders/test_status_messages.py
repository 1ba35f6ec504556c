"""A payer sees only what was agreed: no wrong invoices or deposits, and no changed prices."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.core.money import Amount
from bot.orders.notifications import OrderNotification
from bot.orders.order import Phase
from bot.orders.repository import OrderRepository
from bot.payments.tokens import TOKENS
from bot.staff.notifications import AlarmNotification
from tests.infra.builders import due_heads
from tests.orders.order_system import EMMA, OSCAR, OrderSystem
from tests.settlement.builders import SAFE_ADDRESS, a_deposit
from tests.settlement.fake_settlement import FakeSettlement

SATS = 14_706
IDR, SAT = Amount("IDR", 250_000), Amount("SAT", SATS)


async def place_withheld_order(system: OrderSystem, **changes: Any) -> None:
    """Place an order that must not be shown, and check that the staff are warned."""
    order = await system.place(**changes)
    await system.deliver()
    assert (order.phase, order.bolt11, order.deposit) == (Phase.ABANDONED, None, None)
    assert system.sender.kinds(EMMA) == [OrderNotification.NOT_SHOWN]
    assert system.sender.kinds(OSCAR) == [AlarmNotification.RAISED]
    assert system.sender.payment_requests() == []
    async with system.store.reading() as tx:
        assert await OrderRepository(tx).due(system.clock.now() + timedelta(days=1), is_paid=False) == ()


def hour_ago(service: FakeSettlement) -> datetime:
    return service.clock.now() - timedelta(hours=1)


WRONG_ANSWERS: dict[str, Callable[[FakeSettlement], dict[str, Any]]] = {
    "a sat less": lambda service: {"bolt11": service.invoice(SATS - 1)},
    "a sat more": lambda service: {"bolt11": service.invoice(SATS + 1)},
    "another network": lambda service: {"bolt11": service.invoice(SATS, network="bc")},
    "an expired invoice": lambda service: {"bolt11": service.invoice(SATS, timestamp=hour_ago(service))},
    "no invoice": lambda _: {"bolt11": None},
    "an address": lambda _: {"bolt11": "https://pay.example/invoice"},
    "half an invoice": lambda _: {"bolt11": "lnbcrt1"},
    "more rupiah": lambda _: {"idr": 250_001},
    "less rupiah": lambda _: {"idr": 249_999},
    "an order without sats": lambda _: {"sats": 0},
    "an order that is over": lambda service: {"expires_at": service.clock.now()},
}


@pytest.mark.parametrize("wrong", WRONG_ANSWERS)
async def test_what_is_not_the_agreed_invoice_is_not_shown(
    system: OrderSystem, service: FakeSettlement, wrong: str
) -> None:
    service.answers.append(WRONG_ANSWERS[wrong](service))
    await place_withheld_order(system)


async def test_sats_that_were_given_must_come_back_exactly(system: OrderSystem, service: FakeSettlement) -> None:
    service.answers.append({"sats": SATS + 1, "bolt11": service.invoice(SATS + 1)})
    await place_withheld_order(system, amount=SAT)


@pytest.mark.parametrize("channel", TOKENS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"token_address": SAFE_ADDRESS},
        {"chain_id": 1},
        {"decimals": 6},
        {"to_address": "0x0000000000000000000000000000000000000000"},
        {"to_address": "bc1q"},
        {"channel": "usdt"},
    ],
)
async def test_a_deposit_of_another_token_chain_or_address_is_not_shown(
    system: OrderSystem, service: FakeSettlement, channel: str, wrong: dict[str, Any]
) -> None:
    service.answers.append({"deposit": a_deposit(channel, **wrong)})
    await place_withheld_order(system, channel=channel)


@pytest.mark.parametrize("answer", [{"deposit": None}, {"deposit": a_deposit("btcb")}, {"bolt11": "lnbcrt1"}])
async def test_a_deposit_in_another_channel_or_beside_an_invoice_is_not_shown(
    system: OrderSystem, service: FakeSettlement, answer: dict[str, Any]
) -> None:
    service.answers.append(answer)
    await place_withheld_order(system, channel="cbbtc")


@pytest.mark.parametrize("channel", TOKENS)
async def test_a_right_deposit_is_shown_and_has_no_end(system: OrderSystem, channel: str) -> None:
    order = await system.place(channel=channel)
    await system.deliver()
    assert (order.phase, order.expires_at) == (Phase.OPEN, None)
    assert system.sender.payment_requests() == [SAFE_ADDRESS]


async def test_the_complaint_names_figures_and_nobody(system: OrderSystem, service: FakeSettlement) -> None:
    service.answers.append({"bolt11": service.invoice(SATS + 1)})
    order = await system.place(holder="SARI DEWI")
    async with system.store.reading() as tx:
        notification = next(each for each in await due_heads(tx, system.clock.now()) if each.chat_id == OSCAR)
    said = str(notification.payload)
    assert f"{SATS + 1:,} sats, expected {SATS:,} sats" in said
    assert "WrongAmount" not in said
    assert order.number not in said
    assert "SARI" not in said


@pytest.mark.parametrize("amount", [IDR, SAT])
@pytest.mark.parametrize(
    ("worse", "phase"), [("1.009", Phase.OPEN), ("1.012", Phase.NEEDS_CONFIRMATION), ("0.96", Phase.OPEN)]
)
async def test_a_price_worse_than_the_review_by_more_than_the_set_share_is_asked_about(
    system: OrderSystem, service: FakeSettlement, amount: Amount, worse: str, phase: Phase
) -> None:
    service.locked_rate = service.rate / Decimal(worse)
    order = await system.place(amount=amount)
    await system.deliver()
    assert order.phase is phase
    if phase is Phase.NEEDS_CONFIRMATION:
        assert system.sender.kinds() == [OrderNotification.PRICE_MOVED]
        assert system.sender.payment_requests() == []


async def order_to_confirm(system: OrderSystem, service: FakeSettlement, **changes: Any) -> str:
    service.locked_rate = service.rate / 2
    order = await system.place(**changes)
    await system.deliver()
    assert order.phase is Phase.NEEDS_CONFIRMATION
    return order.reference


async def test_an_accepted_price_shows_the_invoice_once(system: OrderSystem, service: FakeSettlement) -> None:
    reference = await order_to_confirm(system, service)
    assert await system.orders.accept(reference)
    assert await system.orders.accept(reference) is None
    await system.deliver()
    assert system.sender.kinds() == [OrderNotification.PRICE_MOVED, OrderNotification.INVOICE]
    assert system.sender.payment_requests() == [service.records["svc-1"].bolt11]


async def test_a_declined_price_never_shows_its_invoice(system: OrderSystem, service: FakeSettlement) -> None:
    reference = await order_to_confirm(system, service)
    assert await system.orders.drop(reference)
    assert not await system.orders.drop(reference)
    assert await system.orders.accept(reference) is None
    await system.poll()
    assert system.sender.payment_requests() == []
    assert (await system.order(reference)).phase is Phase.ABANDONED


async def test_an_offer_without_an_expiry_of_its_own_stands_for_a_day(
    system: OrderSystem, service: FakeSettlement
) -> None:
    reference = await order_to_confirm(system, service, channel="btcb")
    system.clock.passes(hours=23, minutes=59)
    await system.tracker.check_deadlines()
    assert (await system.order(reference)).phase is Phase.NEEDS_CONFIRMATION
    system.clock.passes(minutes=1)
    assert await system.orders.accept(reference) is None
    await system.tracker.check_deadlines()
    assert (await system.order(reference)).phase is Phase.ABANDONED

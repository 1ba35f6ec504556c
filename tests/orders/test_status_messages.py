"""A payer sees only what was agreed: no wrong invoices or deposits, and no changed prices."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.core.money import Amount
from bot.orders.notifications import OrderNotification
from bot.orders.order import Phase
from bot.orders.repository import OrderRepository
from bot.payments.tokens import TOKENS
from bot.settlement.model import Deposit
from bot.staff.notifications import AlarmNotification
from tests.infra.builders import due_heads
from tests.orders.order_system import EMMA, OSCAR, OrderSystem, rules
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


@pytest.mark.parametrize("sats", [SATS - 1, SATS + 1, SATS * 10])
async def test_an_invoice_over_another_sum_is_not_shown(
    system: OrderSystem, service: FakeSettlement, sats: int
) -> None:
    service.answers.append({"bolt11": service.invoice(sats)})
    await place_withheld_order(system)


async def test_an_invoice_of_another_network_is_not_shown(system: OrderSystem, service: FakeSettlement) -> None:
    service.answers.append({"bolt11": service.invoice(SATS, network="bc")})
    await place_withheld_order(system)


async def test_an_expired_invoice_is_not_shown(system: OrderSystem, service: FakeSettlement) -> None:
    hour_ago = system.clock.now() - timedelta(hours=1)
    service.answers.append({"bolt11": service.invoice(SATS, timestamp=hour_ago)})
    await place_withheld_order(system)


@pytest.mark.parametrize("bolt11", [None, "", "lnbcrt1", "https://pay.example/invoice"])
async def test_what_is_no_invoice_is_not_shown(
    system: OrderSystem, service: FakeSettlement, bolt11: str | None
) -> None:
    service.answers.append({"bolt11": bolt11})
    await place_withheld_order(system)


@pytest.mark.parametrize("answer", [{"idr": 250_001}, {"idr": 249_999}, {"idr": 0}, {"sats": 0}])
async def test_an_order_over_another_sum_is_not_shown(
    system: OrderSystem, service: FakeSettlement, answer: dict[str, int]
) -> None:
    service.answers.append(answer)
    await place_withheld_order(system)


async def test_sats_that_were_given_must_come_back_exactly(system: OrderSystem, service: FakeSettlement) -> None:
    service.answers.append({"sats": SATS + 1, "bolt11": service.invoice(SATS + 1)})
    await place_withheld_order(system, amount=SAT)


async def test_an_order_that_says_it_is_over_is_not_shown_though_its_invoice_lasts(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.answers.append({"expires_at": system.clock.now()})
    await place_withheld_order(system)


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


@pytest.mark.parametrize("deposit", [None, a_deposit("btcb")])
async def test_a_deposit_in_another_channel_than_asked_for_is_not_shown(
    system: OrderSystem, service: FakeSettlement, deposit: Deposit | None
) -> None:
    service.answers.append({"deposit": deposit})
    await place_withheld_order(system, channel="cbbtc")


async def test_an_invoice_beside_deposit_instructions_is_not_shown(
    system: OrderSystem, service: FakeSettlement
) -> None:
    service.answers.append({"bolt11": service.invoice(SATS)})
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


async def test_the_share_is_a_setting(file: str, service: FakeSettlement) -> None:
    system = OrderSystem(file, service, rules=rules(drift_percent=Decimal(5)))
    service.locked_rate = service.rate / Decimal("1.04")
    assert (await system.place()).phase is Phase.OPEN
    await system.close()


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


async def test_an_accepted_order_is_followed_like_any_other(system: OrderSystem, service: FakeSettlement) -> None:
    reference = await order_to_confirm(system, service)
    await system.orders.accept(reference)
    service.becomes("svc-1", "LN_INVOICE_PAID")
    await system.poll()
    assert OrderNotification.PAID in system.sender.kinds()


async def test_a_payment_right_after_a_late_acceptance_is_seen_quickly(
    system: OrderSystem, service: FakeSettlement
) -> None:
    reference = await order_to_confirm(system, service, channel="btcb")
    system.clock.passes(hours=20)
    await system.orders.accept(reference)
    for _ in range(3):
        await system.poll()
    service.becomes("svc-1", "USDT_RECEIVED")
    await system.poll()
    assert OrderNotification.PAID in system.sender.kinds()


async def test_a_declined_price_never_shows_its_invoice(system: OrderSystem, service: FakeSettlement) -> None:
    reference = await order_to_confirm(system, service)
    assert await system.orders.drop(reference)
    assert not await system.orders.drop(reference)
    assert await system.orders.accept(reference) is None
    await system.poll()
    assert system.sender.payment_requests() == []
    assert (await system.order(reference)).phase is Phase.ABANDONED


async def test_a_price_is_not_accepted_once_its_invoice_has_run_out(
    system: OrderSystem, service: FakeSettlement
) -> None:
    reference = await order_to_confirm(system, service)
    system.clock.passes(hours=1)
    assert await system.orders.accept(reference) is None
    await system.tracker.check_deadlines()
    await system.deliver()
    assert (await system.order(reference)).phase is Phase.ABANDONED
    assert system.sender.kinds() == [OrderNotification.PRICE_MOVED]
    async with system.store.reading() as tx:
        assert await OrderRepository(tx).open_of_user(EMMA) == ()


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


async def test_a_held_order_is_not_looked_at(system: OrderSystem, service: FakeSettlement) -> None:
    await order_to_confirm(system, service)
    await system.poll()
    assert service.times("look_up") == 0


async def test_an_order_is_only_dropped_before_anything_is_shown(system: OrderSystem) -> None:
    order = await system.place()
    assert not await system.orders.drop(order.reference)
    assert not await system.orders.drop("NOBODYS")
    assert (await system.order(order.reference)).phase is Phase.OPEN

"""Builders of orders. A test names only the fields that matter to it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import insert

from bot.core.money import Amount
from bot.infra.db.transaction import Transaction
from bot.orders.evidence import Evidence, add_evidence
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Order, OrderEvent, Payer, Phase, payer_in_chat
from bot.orders.receipts.codes import Receipt
from bot.orders.repository import OrderRepository
from bot.orders.tables import orders
from bot.orders.user_data import stored_orders
from bot.payments.erc681 import add_checksum
from bot.settlement.model import FAILED, STEP_OF_STATE, OrderStep, PayoutMethod, ServiceRecord
from bot.users.user_data import MAX_LISTED, StoredData
from tests import screens
from tests.settlement.builders import BCA, LISTED_BCA, a_deposit, a_report
from tests.texts import text
from tests.times import NOW

INVOICE: Final = "lnbcrt294120n1" + "q" * 300
DEPOSIT_ADDRESS: Final = add_checksum("0x" + "ab" * 20)
ORDER_LINE: Final = text("orders.line", amount="Rp500,000", destination="BCA ••••7890", reference="ABC2345")
"""The line of `an_open_order()` in messages about it."""

PICTURES: Final = (OrderNotification.INVOICE, OrderNotification.INVOICE_TEXT)
REMOVALS: Final = (OrderNotification.REMOVE_INVOICE, OrderNotification.REPLACE_QR_CODE)
STATUS_MESSAGES: Final = (OrderNotification.REVIEW, OrderNotification.EDIT_REVIEW, OrderNotification.EDIT_STATUS)
REPORTS: Final = tuple(kind for kind in OrderNotification if kind not in {*PICTURES, *REMOVALS, *STATUS_MESSAGES})
"""The notifications that are messages about an event."""


async def insert_orders(tx: Transaction, new: Iterable[Order]) -> None:
    """Insert orders with one statement."""
    if rows := [OrderRepository(tx)._seal(order) for order in new]:
        await tx.connection.execute(insert(orders), rows)


def an_order(reference: str = "R2345AB", **changes: Any) -> Order:
    """Return Emma's intent to send Rp250,000 to BCA."""
    values: dict[str, Any] = {
        "reference": reference,
        "draft_id": f"draft of {reference}",
        "attempt": 1,
        "method": BCA,
        "number": "8620123456",
        "holder": "SARI DEWI",
        "requested_amount": Amount("IDR", 250_000),
        "channel": "lightning",
        "expected_sats": 15_000,
        "expected_idr": 250_000,
        "phase": Phase.INTENDED,
        "created_at": NOW,
        "btc_idr": Decimal("1666666666.6600"),
    }
    return _order({**values, **changes})


def _order(values: dict[str, Any]) -> Order:
    """Return an order of Emma's, unless the values name another user or payer."""
    user_id = values.pop("user_id", 1001)
    chat_id = values.pop("chat_id", user_id)
    return Order(**{"payer": payer_in_chat(user_id, chat_id) if user_id else Payer(), **values})


def some_evidence(**changes: Any) -> tuple[Evidence, ...]:
    """Return what the service reports of a paid-out Lightning order, as seen a minute ago."""
    record = {
        "partner_redeem_id": "redeem_5f2c",
        "partner_amount_idr": 500_000,
        "partner_burn_tx_hash": "0x" + "b1" * 32,
        "swap_tx_hash": "0x" + "5a" * 32,
        "ln_swap_tx_hash": "0x" + "1a" * 32,
        "ln_swap_id": "swap_77",
        "ln_swap_invoice": INVOICE,
        "invoice_ln_id": "ab" * 32,
        "btc_idr_fetched_at": NOW - timedelta(minutes=9),
        "merchant_name": "WARUNG SARI",
        "tenant_id": "tenant_1",
    }
    report = a_report(
        service_id="cm1",
        state="COMPLETED",
        record=ServiceRecord(**{**record, **changes}),
        created_at=NOW - timedelta(minutes=8),
        paid_at=NOW - timedelta(minutes=7),
    )
    return add_evidence((), report, NOW - timedelta(minutes=1))


def what_is_stored(orders: Sequence[Order]) -> StoredData:
    """Return what `/privacy` shows of these orders."""
    failed = [each.reference for each in orders if each.is_paid and each.state == FAILED]
    return stored_orders(tuple(orders[:MAX_LISTED]), len(orders), tuple(failed[:MAX_LISTED]))


def an_open_order(method: PayoutMethod = LISTED_BCA, **changes: Any) -> Order:
    """Return an order that waits for its payment, with markup in the name."""
    values: dict[str, Any] = {
        "reference": "ABC2345",
        "draft_id": "0123456789",
        "attempt": 1,
        "method": method,
        "number": "1234567890",
        "holder": "BUDI & <i>SANTOSO</i>",
        "requested_amount": Amount("IDR", 500_000),
        "channel": "lightning",
        "expected_sats": 29_410,
        "expected_idr": 500_000,
        "sats": 29_412,
        "idr": 500_000,
        "btc_idr": Decimal(1_700_000_000),
        "phase": Phase.OPEN,
        "state": "IDLE",
        "bolt11": INVOICE,
        "service_id": "cm1",
        "created_at": screens.NOW - timedelta(minutes=1),
        "expires_at": screens.NOW + timedelta(hours=1),
    }
    return _order({**values, **changes})


def a_deposit_order(channel: str, method: PayoutMethod = LISTED_BCA) -> Order:
    """Return an order that waits for a payment in tokens."""
    deposit = a_deposit(channel, chain_name="", token_symbol="", to_address=DEPOSIT_ADDRESS)
    return an_open_order(method, channel=channel, bolt11=None, expires_at=None, deposit=deposit)


def as_sent(order: Order) -> Order:
    """Return an order as completed."""
    end = {"phase": Phase.DONE, "state": "COMPLETED", "step": OrderStep.SENT, "ended_at": screens.NOW}
    return replace(order, **end, paid_at=screens.NOW - timedelta(minutes=2))  # type: ignore[arg-type]


def a_receipt() -> Receipt:
    """Return the receipt of `an_open_order` after it was sent."""
    return Receipt(reference="ABC2345", code="K7QM-2XPA-9RTW", code_hash="ab" * 32, created_at=screens.NOW)


def orders_in_each_state(method: PayoutMethod = LISTED_BCA) -> Iterator[tuple[str, Order]]:
    """Yield an order in every phase and state that a user can open, each with a name for it."""
    now = screens.NOW
    order = an_open_order(method)
    for phase in (Phase.INTENDED, Phase.UNKNOWN, Phase.UNRESOLVED, Phase.REFUSED, Phase.ABANDONED):
        yield phase, replace(order, phase=phase, sats=None, idr=None, btc_idr=None, state="", bolt11=None)
    yield "held", replace(order, phase=Phase.NEEDS_CONFIRMATION)
    yield "offer over", replace(order, phase=Phase.NEEDS_CONFIRMATION, created_at=now - timedelta(days=2))
    for state, step in STEP_OF_STATE.items():
        paid_at = now if step >= OrderStep.PAID else None
        yield state, replace(order, state=state, step=step, paid_at=paid_at)
    yield "no longer followed", replace(order, expires_at=None, phase=Phase.DONE)
    yield "never heard of", replace(order, state="SOMETHING_NEW")
    yield "expired", replace(order, expires_at=now, expiry_notified=True)
    failed = replace(order, state="FAILED", phase=Phase.DONE, ended_at=now)
    yield "failed unpaid", failed
    yield "failed expired", replace(failed, expires_at=now, expiry_notified=True)
    yield "failed paid", replace(failed, step=OrderStep.SENDING, paid_at=now)
    yield "failed paid between two looks", replace(failed, paid_at=now)
    deposit = a_deposit_order("cbbtc", order.method)
    yield "failed unknown", replace(deposit, state="FAILED", phase=Phase.DONE, ended_at=now)
    sending = replace(order, state="P2PM_ORDER_PLACED", step=OrderStep.SENDING, paid_at=now)
    yield "overdue", replace(sending, overdue_notified_at=now)
    yield "nameless", replace(order, holder=None)


def every_event_of(order: Order) -> list[OrderEvent]:
    """Return one event of each kind."""
    noted = [(phase, "", "") for phase in Phase] + [(Phase.OPEN, "", note) for note in EventNote]
    reported = [(Phase.OPEN, state, "") for state in ("IDLE", order.state, "FAILED")]
    moments = [screens.NOW - timedelta(days=800 >> place) for place in range(len(noted) + len(reported))]
    return [
        OrderEvent(reference=order.reference, at=at, phase=phase, state=state, note=note)
        for at, (phase, state, note) in zip(moments, [*noted, *reported], strict=True)
    ]


async def no_ticket(*_: object) -> None:
    """Describe no ticket, as for an order without one."""

"""Convert between orders and rows. Some columns only repeat others, for searching and sorting."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from bot.infra.db import encryption
from bot.infra.db.vault import Vault
from bot.orders.evidence import evidence_from_json, evidence_to_json
from bot.orders.order import HoldReason, Order, Phase
from bot.orders.payer import Payer
from bot.orders.tables import orders
from bot.settlement import json_values as nested
from bot.settlement.steps import OrderStep
from bot.users.user_data import NOBODY

PAYER_COLUMNS = ("user_id", "chat_id", "payer_hash")
"""The columns of `Order.payer`. A payer without a chat has no user either, and both columns are `NOBODY`."""

NAMES = tuple(name for field in fields(Order) for name in (PAYER_COLUMNS if field.name == "payer" else (field.name,)))
POLLED_COLUMNS = tuple(orders.c[name] for name in NAMES)
"""The columns that polling reads."""

COLUMNS = (*POLLED_COLUMNS, orders.c.payment_seal)
"""The columns from which an order is read, in this order."""

READ = tuple(column.key for column in COLUMNS)

TRACKED = (
    *("phase", "version", "state", "step", "is_paid", "paid_at", "ended_at"),
    *("expiry_notified", "overdue_notified_at", "last_polled_at", "next_poll_at"),
)
"""What tracking changes besides the evidence. None of it is personal."""

NOT_READ = {column.key: None if column.nullable else "" for column in POLLED_COLUMNS if column.info.get("personal")}
"""What polling needs none of: all that is personal."""


def to_row(order: Order, vault: Vault) -> dict[str, object]:
    """Return the values of the columns."""
    row: dict[str, object] = {name: getattr(order, name) for name in NAMES if name not in PAYER_COLUMNS}
    row["user_id"], row["chat_id"] = order.payer.user_id or NOBODY, order.payer.chat_id or NOBODY
    row["payer_hash"] = order.payer.secret_hash
    row["phase"], row["step"] = order.phase.value, int(order.step)
    row["method"] = nested.from_method(order.method)
    row["requested_amount"] = nested.from_amount(order.requested_amount)
    row["typed_amount"] = order.typed_amount and nested.from_amount(order.typed_amount)
    row["deposit"] = order.deposit and nested.from_deposit(order.deposit)
    row["method_code"], row["is_paid"] = order.method.code, order.is_paid
    row["evidence"] = evidence_to_json(order.evidence)
    row["hold_reason"] = order.hold_reason and order.hold_reason.value
    return encryption.seal_row(vault, orders, row)


def to_tracked_row(order: Order) -> dict[str, object]:
    """Return the values of the columns that tracking changes, except the evidence."""
    row: dict[str, object] = {name: getattr(order, name) for name in TRACKED}
    return {**row, "phase": order.phase.value, "step": int(order.step)}


def to_sealed_evidence(order: Order, vault: Vault) -> str | None:
    """Return the value of the column with the evidence."""
    text = evidence_to_json(order.evidence)
    return text and vault.seal(text, encryption.get_place(orders.name, "evidence", order.reference))


def to_order(row: Sequence[Any], vault: Vault) -> Order:
    """Return the order of a row of `COLUMNS`.

    Values are read by position. By name, a thousand due orders would need 32,000 lookups.
    """
    return encryption.read_row(vault, orders, dict(zip(READ, row, strict=True)), _order)


def to_order_if_readable(row: Sequence[Any], vault: Vault) -> Order | None:
    """Return the order of a row of `COLUMNS`, or None if it can't be read. Unreadable rows are recorded."""
    return encryption.read_row_or_none(vault, orders, dict(zip(READ, row, strict=True)), _order)


def to_polled_order(row: Sequence[Any], vault: Vault) -> Order | None:
    """Return the order of a row of `POLLED_COLUMNS`, or None if a value can't be read. Such rows are recorded.

    Nothing is decrypted and no digest is checked, because polling needs no personal data. So the order has no
    recipient, and no invoice or deposit that could be paid.
    """
    known: dict[str, Any] = dict(zip(NAMES, row, strict=True))
    return encryption.read_sealed_row(vault, orders, {**known, **NOT_READ}, _order)


def to_polled_order_without_time(row: Sequence[Any], vault: Vault) -> Order | None:
    """Return what `to_polled_order` returns, without `next_poll_at`."""
    known: dict[str, Any] = dict(zip(NAMES, row, strict=True))
    return encryption.read_sealed_row(vault, orders, {**known, **NOT_READ, "next_poll_at": None}, _order)


def _order(known: dict[str, Any]) -> Order:
    user_id, chat_id, secret_hash = (known.pop(name) or None for name in PAYER_COLUMNS)
    known["payer"] = Payer(user_id=user_id, chat_id=chat_id, secret_hash=secret_hash)
    known["phase"], known["step"] = Phase(known["phase"]), OrderStep(known["step"])
    known["hold_reason"] = known["hold_reason"] and HoldReason(known["hold_reason"])
    known["method"] = nested.to_method(known["method"])
    known["requested_amount"] = nested.to_amount(known["requested_amount"])
    known["typed_amount"] = known["typed_amount"] and nested.to_amount(known["typed_amount"])
    known["deposit"] = known["deposit"] and nested.to_deposit(known["deposit"])
    known["evidence"] = evidence_from_json(known["evidence"])
    return Order(**known)

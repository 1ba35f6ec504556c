"""Turn an order into a row, and back. Columns that follow from others are there to search or to sort by."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from bot.infra.db import encryption
from bot.infra.db.vault import Vault
from bot.orders.order import HoldReason, Order, Phase
from bot.orders.tables import orders
from bot.settlement import json_values as nested
from bot.settlement.steps import OrderStep

NAMES = tuple(field.name for field in fields(Order))
FOLLOWED = tuple(orders.c[name] for name in NAMES)
"""The columns that polling reads."""

COLUMNS = (*FOLLOWED, orders.c.payment_seal)
"""The columns that an order is read from, in this order."""

READ = tuple(column.key for column in COLUMNS)

UNFOLLOWED = {column.key: None if column.nullable else "" for column in FOLLOWED if column.info.get("personal")}
"""What polling needs none of: all that is personal."""


def to_row(order: Order, vault: Vault) -> dict[str, object]:
    """Return the values of the columns."""
    row: dict[str, object] = {name: getattr(order, name) for name in NAMES}
    row["phase"], row["step"] = order.phase.value, int(order.step)
    row["method"] = nested.from_method(order.method)
    row["requested_amount"] = nested.from_amount(order.requested_amount)
    row["deposit"] = order.deposit and nested.from_deposit(order.deposit)
    row["method_code"], row["is_paid"] = order.method.code, order.is_paid
    row["deposit_key"], row["hold_reason"] = order.deposit_key, order.hold_reason and order.hold_reason.value
    return encryption.seal_row(vault, orders, row)


def to_order(row: Sequence[Any], vault: Vault) -> Order:
    """Return the order of a row of `COLUMNS`.

    Values are found by their place: by name, a thousand due orders would need 32,000 lookups.
    """
    return encryption.read_row(vault, orders, dict(zip(READ, row, strict=True)), _order)


def to_order_if_readable(row: Sequence[Any], vault: Vault) -> Order | None:
    """Return the order of a row of `COLUMNS`; None where it can't be read, which is noted."""
    return encryption.read_row_or_none(vault, orders, dict(zip(READ, row, strict=True)), _order)


def to_order_without_next_poll(row: Sequence[Any], vault: Vault) -> Order | None:
    """Return the order of a row of `COLUMNS` as if it had no `next_poll_at`; None where it can't be read even so."""
    known: dict[str, Any] = dict(zip(READ, row, strict=True))
    return encryption.read_row_or_none(vault, orders, {**known, "next_poll_at": None}, _order)


def to_polled_order(row: Sequence[Any], vault: Vault) -> Order | None:
    """Return the order of a row of `FOLLOWED` without what is personal: polling an order needs none of it.

    Nothing is opened and no digest is checked. So what it is paid with, which is personal too, can't be taken from
    here. None where a value is malformed, which is noted.
    """
    known: dict[str, Any] = dict(zip(NAMES, row, strict=True))
    return encryption.read_sealed_row(vault, orders, {**known, **UNFOLLOWED}, _order)


def _order(known: dict[str, Any]) -> Order:
    known["phase"], known["step"] = Phase(known["phase"]), OrderStep(known["step"])
    known["hold_reason"] = known["hold_reason"] and HoldReason(known["hold_reason"])
    known["method"] = nested.to_method(known["method"])
    known["requested_amount"] = nested.to_amount(known["requested_amount"])
    known["deposit"] = known["deposit"] and nested.to_deposit(known["deposit"])
    return Order(**known)

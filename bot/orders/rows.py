"""Convert between orders and rows."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import Select, null

from bot.infra.db import encryption
from bot.infra.db.repository import Repository
from bot.infra.db.user_rows import NOBODY
from bot.infra.db.vault import Vault
from bot.orders.evidence import evidence_from_json, evidence_to_json
from bot.orders.order import HoldReason, Order, Payer, Phase
from bot.orders.tables import orders
from bot.settlement import json_values as nested
from bot.settlement.model import OrderStep
from bot.staff.outcomes import Outcome

PAYER_COLUMNS = ("user_id", "chat_id", "payer_hash")
"""The columns of `Order.payer`. A payer without a chat has no user either, and both columns are `NOBODY`."""

REPEATED = ("method_code", "is_paid")
"""The columns that only repeat others, for searching and sorting."""

TRACKED = (
    *("phase", "version", "state", "step", "is_paid", "paid_at", "ended_at"),
    *("expiry_notified", "overdue_notified_at", "last_polled_at", "next_poll_at", "outcome"),
)
"""What tracking changes besides the evidence. None of it is personal."""

NOT_READ = {column.key: None if column.nullable else "" for column in orders.columns if column.info.get("personal")}
"""What polling needs none of: all that is personal."""

# Evidence is the longest column.
POLLED = tuple(null().label(column.key) if column.key == "evidence" else column for column in orders.columns)
"""The columns that polling reads."""


class OrderRows(Repository[Order]):
    """Reads orders."""

    table = orders

    async def _find_polled(self, statement: Select[Any], values: Mapping[str, Any] | None = None) -> tuple[Order, ...]:
        """Return the orders of rows of `POLLED` that can be read. The others are recorded.

        Nothing is decrypted and no digest is checked, because polling needs no personal data. So the orders have no
        recipient, and no invoice or deposit that could be paid.
        """
        return self._read_polled((await self._connection.execute(statement, values)).mappings())

    def _read_polled(self, rows: Iterable[Mapping[Any, Any]]) -> tuple[Order, ...]:
        known = ({**row, **NOT_READ} for row in rows)
        return encryption.read_rows(self._vault, orders, known, self._to_value, are_opened=False)

    def _to_row(self, value: Order) -> dict[str, Any]:
        row: dict[str, Any] = {
            field.name: getattr(value, field.name) for field in fields(Order) if field.name != "payer"
        }
        payer = value.payer
        row["user_id"], row["chat_id"] = payer.user_id or NOBODY, payer.chat_id or NOBODY
        row["payer_hash"] = payer.secret_hash
        row["phase"], row["step"] = value.phase.value, int(value.step)
        row["method"] = nested.from_method(value.method)
        row["requested_amount"] = nested.from_amount(value.requested_amount)
        row["typed_amount"] = value.typed_amount and nested.from_amount(value.typed_amount)
        row["deposit"] = value.deposit and nested.from_deposit(value.deposit)
        row["method_code"], row["is_paid"] = value.method.code, value.is_paid
        row["evidence"] = evidence_to_json(value.evidence)
        row["hold_reason"] = value.hold_reason and value.hold_reason.value
        row["outcome"] = value.outcome and value.outcome.value
        return row

    def _to_value(self, known: dict[str, Any]) -> Order:
        for name in (*REPEATED, "payment_seal"):
            known.pop(name, None)
        user_id, chat_id, secret_hash = (known.pop(name) or None for name in PAYER_COLUMNS)
        known["payer"] = Payer(user_id=user_id, chat_id=chat_id, secret_hash=secret_hash)
        known["phase"], known["step"] = Phase(known["phase"]), OrderStep(known["step"])
        known["hold_reason"] = known["hold_reason"] and HoldReason(known["hold_reason"])
        known["outcome"] = known["outcome"] and Outcome(known["outcome"])
        known["method"] = nested.to_method(known["method"])
        known["requested_amount"] = nested.to_amount(known["requested_amount"])
        known["typed_amount"] = known["typed_amount"] and nested.to_amount(known["typed_amount"])
        known["deposit"] = known["deposit"] and nested.to_deposit(known["deposit"])
        known["evidence"] = evidence_from_json(known["evidence"])
        return Order(**known)


def to_tracked_row(order: Order) -> dict[str, object]:
    """Return the values of the columns that tracking changes, except the evidence."""
    row: dict[str, object] = {name: getattr(order, name) for name in TRACKED}
    outcome = order.outcome and order.outcome.value
    return {**row, "phase": order.phase.value, "step": int(order.step), "outcome": outcome}


def to_sealed_evidence(order: Order, vault: Vault) -> str | None:
    """Return the value of the column with the evidence."""
    text = evidence_to_json(order.evidence)
    return text and encryption.seal_text(vault, orders.c.evidence, order.reference, text)

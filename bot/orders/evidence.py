"""What the service has reported about an order besides its state, as evidence if the money doesn't arrive.

No decision depends on it. A value that the service replaces is kept beside the new one.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final

from bot.settlement.model import OrderReport, ServiceRecord

TIMES: Final = ("btc_idr_fetched_at", "created_at", "invoice_paid_at", "completed_at")
"""The evidence that is a time, by the service's clock."""

NAMES: Final = tuple(dict.fromkeys((*(field.name for field in fields(ServiceRecord)), *TIMES)))
"""All evidence, in the order in which support needs it. The names are the service's (settlement API, 2.7)."""

PAYOUT_REFERENCE: Final = "partner_redeem_id"
HIDDEN: Final = {False: frozenset({"tenant_id"}), True: frozenset({"tenant_id", "merchant_name"})}
"""The evidence that no payer may see: the operator's account, and if the recipient is hidden, who that is."""

MAX_VALUES: Final = 3
"""How many values of one name are kept, so that a service that changes its mind doesn't fill the database."""

Value = str | int | datetime


@dataclass(frozen=True, slots=True)
class Evidence:
    """A value that the service reported, and when we first saw it by our own clock. A number is an amount of rupiah."""

    name: str
    value: Value
    seen_at: datetime


def add_evidence(known: tuple[Evidence, ...], report: OrderReport, now: datetime) -> tuple[Evidence, ...]:
    """Return the evidence with what is new in a report. It is `known` itself if nothing is."""
    new = []
    for name, value in _values(report).items():
        values = [each.value for each in known if each.name == name]
        if value is not None and value not in values and len(values) < MAX_VALUES:
            new.append(Evidence(name, value, now))
    return (*known, *new) if new else known


def _values(report: OrderReport) -> Mapping[str, Value | None]:
    return {
        **{field.name: getattr(report.record, field.name) for field in fields(ServiceRecord)},
        "created_at": report.created_at,
        "invoice_paid_at": report.paid_at,
        "completed_at": report.completed_at,
    }


def last_value(evidence: Sequence[Evidence], name: str) -> Value | None:
    """Return the value of this name that was seen last."""
    return next((each.value for each in reversed(evidence) if each.name == name), None)


def evidence_to_json(evidence: Sequence[Evidence]) -> str | None:
    """Return the evidence as JSON text, or None if there is none."""
    rows = [[each.name, _plain(each.value), each.seen_at.isoformat()] for each in evidence]
    return json.dumps(rows, separators=(",", ":")) if rows else None


def evidence_from_json(text: str | None) -> tuple[Evidence, ...]:
    """Return the evidence that `evidence_to_json` wrote.

    Raises:
        ValueError, TypeError: the text is something else.
    """
    rows = json.loads(text) if text else []
    return tuple(Evidence(name, _typed(name, value), datetime.fromisoformat(seen_at)) for name, value, seen_at in rows)


def _plain(value: Value) -> str | int:
    return value.isoformat() if isinstance(value, datetime) else value


def _typed(name: str, value: str | int) -> Value:
    return datetime.fromisoformat(str(value)) if name in TIMES else value

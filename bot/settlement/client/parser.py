"""Parsing of an answer into a resource, or into a NotUnderstood without personal data."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, NoReturn, TypeVar

import structlog
from pydantic import ValidationError

from bot.settlement.client.errors import NotUnderstood
from bot.settlement.client.wire import Order, OrderList, PayoutMethod, PayoutMethods, Wire

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

Resource = TypeVar("Resource", bound=Wire)

EXCERPT_LENGTH = 120
_REASONS_SHOWN = 3
_LONG_NUMBER = re.compile(r"\d[\d .-]{2,}\d")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ServiceResponse:
    """A 2xx with a JSON body. `date` is the service's time from its `Date` header."""

    status: int
    value: object
    date: datetime | None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def read_json(body: bytes) -> object:
    """Parse the JSON of a body, fractions as exact Decimals.

    Raises:
        ValueError: the body isn't standard JSON (NaN and Infinity aren't).
    """
    try:
        value: object = json.loads(body, parse_float=Decimal, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def excerpt(text: str) -> str:
    """Return the beginning of a page without its longer numbers. Return nothing if the text looks like JSON."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[", '"')):
        return ""
    return _LONG_NUMBER.sub("…", start[: 2 * EXCERPT_LENGTH])[:EXCERPT_LENGTH]


def read(model: type[Resource], answer: ServiceResponse) -> Resource:
    """Parse the answer as one resource.

    Raises:
        NotUnderstood: it is something else.
    """
    try:
        return model.model_validate(answer.value)
    except ValidationError as error:
        reason = _reason(error)
    raise NotUnderstood(f"{model.__name__}: {reason}", status=answer.status)


def read_methods(answer: ServiceResponse) -> PayoutMethods:
    """Parse the payout methods (settlement API, 2.2), without unreadable rows.

    Raises:
        NotUnderstood: there is no list, or no row is readable.
    """
    rows = _list_under("data", answer)
    methods, skipped = _rows(PayoutMethod, rows)
    if skipped and not methods:
        raise NotUnderstood("PayoutMethod: no row understood", status=answer.status)
    return PayoutMethods(methods=tuple(methods), skipped=skipped)


def read_orders(answer: ServiceResponse) -> OrderList:
    """Parse a page of orders (settlement API, 4.7), without unreadable rows.

    Raises:
        NotUnderstood: there is no list, or no row is readable.
    """
    rows = _list_under("orders", answer)
    orders, skipped = _rows(Order, rows)
    if skipped and not orders:
        raise NotUnderstood("Order: no row understood", status=answer.status)
    page = OrderList.model_validate({**_mapping(answer.value), "orders": (), "skipped": skipped})
    return page.model_copy(update={"orders": tuple(orders)})


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _list_under(key: str, answer: ServiceResponse) -> list[object]:
    rows = _mapping(answer.value).get(key)
    if not isinstance(rows, list):
        raise NotUnderstood(f"no list under {key}", status=answer.status)
    return rows


def _rows(model: type[Resource], rows: Sequence[object]) -> tuple[list[Resource], int]:
    understood: list[Resource] = []
    reason = ""
    for row in rows:
        try:
            understood.append(model.model_validate(row))
        except ValidationError as error:
            reason = reason or _reason(error)
    skipped = len(rows) - len(understood)
    if skipped:
        log.warning("settlement_rows_skipped", resource=model.__name__, skipped=skipped, first_reason=reason)
    return understood, skipped


def _reason(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    reasons = [f"{'.'.join(map(str, fault['loc']))}: {fault['type']}" for fault in faults]
    return "; ".join(reasons[:_REASONS_SHOWN])

"""The base of all control endpoints. The real service has none.

They accept and return JSON, need no key, and are meant for loopback only.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.payments.tokens import LIGHTNING, LIGHTNING_SCHEME
from bot.sandbox.service.control.profile import DOCUMENTED
from bot.sandbox.service.errors import ControlRefusal
from bot.sandbox.service.orders import lifecycle
from bot.sandbox.service.orders.orders import created_answer, iso, record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request

    from bot.sandbox.service.orders.orders import Order
    from bot.sandbox.service.service import Service

    Body = Mapping[str, object]
    Handler = Callable[[Service, Body], Awaitable[object]]


def control_route(service: Service, method: str, path: str, handler: Handler) -> Route:
    """Return a control endpoint. A GET's body is its query, and a missing body is an empty one."""

    async def endpoint(request: Request) -> Response:
        body: Body = dict(request.query_params) if method == "GET" else await _body(request)
        lifecycle.tick(service)
        return JSONResponse(await handler(service, body))

    return Route(f"/control{path}", endpoint, methods=[method])


def text_field(body: Body, name: str) -> str:
    """Return a required string.

    Raises:
        ControlRefusal: 400, it is missing or not a string.
    """
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise ControlRefusal(400, f"{name} is required and must be a string")
    return value


def whole_field(body: Body, name: str, *, low: int, high: int, default: int) -> int:
    """Return a whole number in a range. Digits in a string are accepted, as in queries.

    Raises:
        ControlRefusal: 400, it isn't one.
    """
    value = body.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:18])
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ControlRefusal(400, f"{name} must be a whole number from {low} to {high}")
    return value


def find_order(service: Service, body: Body) -> Order:
    """Return the order given by `bolt11` (any case, with or without `lightning:`) or `orderId`.

    Raises:
        ControlRefusal: 400, neither is given; 404, there is no such order.
    """
    if body.get("bolt11"):
        order = service.book.find_by_invoice(plain_invoice(text_field(body, "bolt11")))
    else:
        order = service.book.find(text_field(body, "orderId"))
    if order is None:
        raise ControlRefusal(404, "no such order")
    return order


def plain_invoice(sent: str) -> str:
    """Return the canonical spelling of an invoice, whatever a scanner changed."""
    return sent.strip().lower().removeprefix(LIGHTNING_SCHEME).removeprefix("//")


def shown_order(service: Service, order: Order) -> dict[str, object]:
    """Return the whole record of an order, with the sandbox's internal fields. Any tenant, listed or not."""
    waits = order.deposit_seen and not order.is_terminal and order.state in ("IDLE", "ROUTE_SHOWN")
    return record(order, DOCUMENTED) | {
        "payoutRecipient": order.recipient,
        "kind": order.kind,
        "listed": order.listed,
        "deposit": None if order.channel == LIGHTNING else created_answer(order, service.switches.profile)["deposit"],
        "paid": order.is_paid,
        "expired": order.is_expired(service.now()),
        "terminal": order.is_terminal,
        "waitsForOperator": waits,
        "dueAt": None if order.due_at is None else iso(order.due_at),
        "failAt": order.fail_at,
        "reached": list(order.reached),
    }


async def _body(request: Request) -> Body:
    sent = await request.body()
    try:
        body = json.loads(sent) if sent.strip() else {}
    except ValueError:
        raise ControlRefusal(400, "the body is not valid JSON") from None
    if not isinstance(body, dict):
        raise ControlRefusal(400, "the body must be a JSON object")
    return body

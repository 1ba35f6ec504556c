"""Control endpoints that pay, move, fail and expire orders, and create many at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from bot.payments.tokens import LIGHTNING
from bot.sandbox.service.control.control import control_route, find_order, shown_order, text_field, whole_field
from bot.sandbox.service.errors import ControlRefusal
from bot.sandbox.service.orders import lifecycle, order_creation
from bot.sandbox.service.orders.validation import Wanted

if TYPE_CHECKING:
    from starlette.routing import Route

    from bot.sandbox.service.control.control import Body
    from bot.sandbox.service.orders.orders import Order
    from bot.sandbox.service.service import Service

_DEFAULT_SHOWN: Final = 200
_MOST_AT_ONCE: Final = 100_000
_BULK_STEP: Final = 50
_BULK_IDR: Final = 150_000


def routes(service: Service) -> list[Route]:
    """Return the control endpoints for orders."""
    return [
        control_route(service, "GET", "/orders", _orders),
        control_route(service, "POST", "/pay", _pay),
        control_route(service, "POST", "/advance", _advance),
        control_route(service, "POST", "/fail", _fail),
        control_route(service, "POST", "/expire", _expire),
        control_route(service, "POST", "/bulk", _bulk),
    ]


async def _orders(service: Service, query: Body) -> object:
    if query.get("bolt11") or query.get("orderId"):
        orders = [find_order(service, query)]
    else:
        limit = whole_field(query, "limit", low=1, high=_MOST_AT_ONCE, default=_DEFAULT_SHOWN)
        recipient = text_field(query, "recipient") if "recipient" in query else None
        orders = service.book.newest_of_all(limit, recipient)
    return {"orders": [shown_order(service, order) for order in orders]}


async def _pay(service: Service, body: Body) -> object:
    before = find_order(service, body)
    order, already = lifecycle.pay(service, before, late=body.get("late") is True)
    proof = service.node.preimage(order.id).hex() if order.channel == LIGHTNING else None
    return {"already": already, "preimage": proof, "order": shown_order(service, order)}


async def _advance(service: Service, body: Body) -> object:
    to = text_field(body, "state") if body.get("state") is not None else None
    if "orderIds" not in body:
        return {"order": shown_order(service, lifecycle.advance(service, find_order(service, body), to))}
    orders = [find_order(service, {"orderId": order_id}) for order_id in _ids(body["orderIds"])]
    with service.storage.transaction():
        moved = [lifecycle.advance(service, order, to) for order in orders]
    return {"states": {order.id: order.state for order in moved}}


async def _fail(service: Service, body: Body) -> object:
    stage = text_field(body, "stage") if body.get("stage") is not None else None
    return {"order": shown_order(service, lifecycle.fail(service, find_order(service, body), stage))}


async def _expire(service: Service, body: Body) -> object:
    return {"order": shown_order(service, lifecycle.expire(service, find_order(service, body)))}


async def _bulk(service: Service, body: Body) -> object:
    """Create many orders. The answer is sent when all exist. Other requests are served in the meantime."""
    count = whole_field(body, "count", low=1, high=_MOST_AT_ONCE, default=1)
    tenant = text_field(body, "tenant") if body.get("tenant") is not None else service.keys.first_tenant()
    if tenant is None:
        raise ControlRefusal(409, "there is no tenant yet; issue a key first")
    state = text_field(body, "state") if body.get("state") is not None else None
    ids: list[str] = []
    while len(ids) < count:
        with service.storage.transaction():
            made = [_one_of_many(service, tenant, state) for _ in range(min(_BULK_STEP, count - len(ids)))]
        ids += [order.id for order in made]
        await asyncio.sleep(0)
    return {"orderIds": ids}


def _one_of_many(service: Service, tenant: str, state: str | None) -> Order:
    method = service.methods.first(service.switches.profile)
    wanted = Wanted(
        sat_amount=None,
        idr_amount=_BULK_IDR,
        channel=LIGHTNING,
        method=method,
        recipient="1234567890" if method.kind == "bank" else "081234567890",
        account_name="BULK ORDER",
    )
    locked = service.quote()
    sats, idr = order_creation.amounts(wanted, locked)
    order = order_creation.compose(service, tenant=tenant, wanted=wanted, sats=sats, idr=idr, locked=locked)
    service.book.add(order)
    return order if state is None or state == order.state else lifecycle.advance(service, order, state)


def _ids(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ControlRefusal(400, "orderIds must be a list of strings")
    return value

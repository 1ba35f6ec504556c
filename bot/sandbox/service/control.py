"""The control endpoints: settings, faults, and what happens to orders. The real service has none.

They accept and return JSON, need no key, and are meant for loopback only.
"""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.payments.tokens import LIGHTNING, LIGHTNING_SCHEME
from bot.sandbox.service import creation, lifecycle
from bot.sandbox.service.creation import Wanted
from bot.sandbox.service.orders import created_answer, iso, record
from bot.sandbox.service.settings import DOCUMENTED, ControlRefusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request

    from bot.sandbox.service.orders import Order
    from bot.sandbox.settlement import Service

    Body = Mapping[str, Any]
    Handler = Callable[[Service, Body], Awaitable[object]]

_DEFAULT_SHOWN: Final = 200
_BULK_STEP: Final = 50
_BULK_IDR: Final = 150_000


def routes(service: Service) -> list[Route]:
    """Return the control endpoints of a service."""
    table = (
        ("GET", "/orders", _orders),
        ("POST", "/pay", _pay),
        ("POST", "/advance", _advance),
        ("POST", "/fail", _fail),
        ("POST", "/expire", _expire),
        ("POST", "/bulk", _bulk),
        ("GET", "/settings", _settings),
        ("POST", "/settings", _change_settings),
        ("GET", "/faults", _faults),
        ("POST", "/faults", _add_fault),
        ("DELETE", "/faults", _clear_faults),
        ("GET", "/methods", _methods),
        ("POST", "/methods", _replace_methods),
        ("DELETE", "/methods", _remove_method),
        ("POST", "/quote", _set_quote),
        ("GET", "/requests", _requests),
        ("POST", "/keys/revoke", _revoke_key),
    )
    return [_control_route(service, method, path, handler) for method, path, handler in table]


def _control_route(service: Service, method: str, path: str, handler: Handler) -> Route:
    """Return a control endpoint. A GET's body is its query, and a missing body is an empty one."""

    async def endpoint(request: Request) -> Response:
        body: Body = dict(request.query_params) if method == "GET" else await _body(request)
        lifecycle.tick(service)
        return JSONResponse(await handler(service, body))

    return Route(f"/control{path}", endpoint, methods=[method])


async def _body(request: Request) -> Body:
    try:
        body: Body = json.loads(await request.body() or b"{}")
    except ValueError:
        raise ControlRefusal(400, "the body is not valid JSON") from None
    return body


def _find_order(service: Service, body: Body) -> Order:
    """Return the order given by `bolt11` (any case, with or without `lightning:`) or `orderId`.

    Raises:
        ControlRefusal: 404, there is no such order.
    """
    invoice = str(body.get("bolt11") or "").strip().lower().removeprefix(LIGHTNING_SCHEME).removeprefix("//")
    order = service.book.find_by_invoice(invoice) if invoice else service.book.find(str(body.get("orderId")))
    if order is None:
        raise ControlRefusal(404, "no such order")
    return order


def _show(service: Service, order: Order) -> dict[str, object]:
    """Return the whole record of an order, with the sandbox's internal fields. Listed or not."""
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


async def _orders(service: Service, query: Body) -> object:
    if query.get("bolt11") or query.get("orderId"):
        orders = [_find_order(service, query)]
    else:
        limit = int(query.get("limit") or _DEFAULT_SHOWN)
        orders = service.book.newest_of_all(limit, query.get("recipient"))
    return {"orders": [_show(service, order) for order in orders]}


async def _pay(service: Service, body: Body) -> object:
    before = _find_order(service, body)
    order, already = lifecycle.pay(service, before, late=body.get("late") is True)
    proof = service.node.preimage(order.id).hex() if order.channel == LIGHTNING else None
    return {"already": already, "preimage": proof, "order": _show(service, order)}


async def _advance(service: Service, body: Body) -> object:
    to = body.get("state")
    if "orderIds" not in body:
        return {"order": _show(service, lifecycle.advance(service, _find_order(service, body), to))}
    orders = [_find_order(service, {"orderId": order_id}) for order_id in body["orderIds"]]
    with service.storage.transaction():
        moved = [lifecycle.advance(service, order, to) for order in orders]
    return {"states": {order.id: order.state for order in moved}}


async def _fail(service: Service, body: Body) -> object:
    return {"order": _show(service, lifecycle.fail(service, _find_order(service, body), body.get("stage")))}


async def _expire(service: Service, body: Body) -> object:
    return {"order": _show(service, lifecycle.expire(service, _find_order(service, body)))}


async def _bulk(service: Service, body: Body) -> object:
    """Create many orders. The answer is sent when all exist. Other requests are served in the meantime."""
    count, state = int(body.get("count", 1)), body.get("state")
    ids: list[str] = []
    while len(ids) < count:
        with service.storage.transaction():
            made = [_one_of_many(service, state) for _ in range(min(_BULK_STEP, count - len(ids)))]
        ids += [order.id for order in made]
        await asyncio.sleep(0)
    return {"orderIds": ids}


def _one_of_many(service: Service, state: str | None) -> Order:
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
    sats, idr = creation.amounts(wanted, locked)
    order = creation.compose(service, wanted=wanted, sats=sats, idr=idr, locked=locked)
    service.book.add(order)
    return order if state is None or state == order.state else lifecycle.advance(service, order, state)


async def _settings(service: Service, _body: Body) -> object:
    return service.switches.as_json()


async def _change_settings(service: Service, body: Body) -> object:
    service.switches = service.switches.changed(body)
    if {"speedSeconds", "speedByBank", "stuck"} & body.keys():
        lifecycle.set_speed(service)
    lifecycle.tick(service)
    return service.switches.as_json()


async def _faults(service: Service, _body: Body) -> object:
    return {"faults": service.faults.as_json()}


async def _add_fault(service: Service, body: Body) -> object:
    return {"fault": service.faults.add(body).as_json()}


async def _clear_faults(service: Service, body: Body) -> object:
    """Remove the fault with this `id`, or all faults."""
    service.faults.remove(body.get("id"))
    return {"faults": service.faults.as_json()}


async def _methods(service: Service, _body: Body) -> object:
    return {"methods": service.methods.current(service.switches.profile)}


async def _replace_methods(service: Service, body: Body) -> object:
    service.methods.replace(body.get("methods"))
    return await _changed_methods(service, body)


async def _remove_method(service: Service, body: Body) -> object:
    if body.get("bankCode") is None:
        service.methods.replace(None)
    else:
        service.methods.remove(str(body["bankCode"]), service.switches.profile)
    return await _changed_methods(service, body)


async def _changed_methods(service: Service, body: Body) -> object:
    if body.get("flush") is True:
        service.methods.flush()
    return {"methods": service.methods.current(service.switches.profile)}


async def _set_quote(service: Service, body: Body) -> object:
    rate = body.get("btcIdr")
    return service.quotes.set(service.now(), None if rate is None else Decimal(str(rate))).as_json()


async def _requests(service: Service, _: Body) -> object:
    return service.requests.as_json()


async def _revoke_key(service: Service, body: Body) -> object:
    service.revoked.add(str(body.get("keyId")))
    return {}

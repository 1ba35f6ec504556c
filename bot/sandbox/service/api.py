"""The seven endpoints of /v1 (settlement API, 4), each behind the key check (settlement API, 5)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.sandbox.service import keys
from bot.sandbox.service.errors import Refusal
from bot.sandbox.service.orders import lifecycle, order_creation
from bot.sandbox.service.orders.deposits import rails
from bot.sandbox.service.orders.orders import created_answer, iso, record

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from bot.sandbox.service.service import Service

    Handler = Callable[[Service, str, Request], Awaitable[Response]]
    Endpoint = Callable[[Request], Awaitable[Response]]

_DEFAULT_LIMIT: Final = 50
_MOST: Final = 100
_LARGEST_BODY_BYTES: Final = 100_000
_DATABASE_DOWN: Final = "database unavailable, try again shortly"
_TAGLINE: Final = "Bitcoin in, rupiah out."


class MalformedJson(Refusal):
    """The body isn't JSON. The live service answers with an HTML page."""


def routes(service: Service) -> list[Route]:
    """Return the routes of the public API of one service."""

    def route(path: str, handler: Handler, method: str = "GET") -> Route:
        return Route(path, _guarded(service, handler), methods=[method])

    return [
        route("/v1/quote/btc-idr", _quote),
        route("/v1/payout/methods", _methods),
        route("/v1/deposit/rails", _rails),
        route("/v1/platform/stats", _stats),
        route("/v1/offramp/orders", _create, "POST"),
        route("/v1/offramp/orders", _list),
        route("/v1/offramp/orders/{order_id}", _read),
    ]


def _guarded(service: Service, handler: Handler) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        tenant = _tenant(service, request)
        lifecycle.tick(service)
        return await handler(service, tenant, request)

    return endpoint


def _tenant(service: Service, request: Request) -> str:
    if service.switches.key_check_down:
        raise Refusal(503, "key check unavailable, try again shortly")
    try:
        presented = keys.presented_key(request.headers.get("x-api-key"), request.headers.get("authorization"))
        return service.keys.tenant_of(presented)
    except Refusal as refusal:
        if service.switches.profile.one_key_error:
            raise Refusal(401, keys.ANY_KEY_PROBLEM) from refusal
        raise


async def _quote(service: Service, _tenant: str, _request: Request) -> Response:
    return JSONResponse(service.quote().as_json())


async def _methods(service: Service, _tenant: str, _request: Request) -> Response:
    return JSONResponse({"statusCode": 200, "message": "OK", "data": service.listing()})


async def _rails(service: Service, tenant: str, _request: Request) -> Response:
    switches = service.switches
    explains = switches.profile.explains_missing_rails
    return JSONResponse(rails(tenant, configured=switches.configured, explains_missing=explains))


async def _stats(service: Service, _tenant: str, _request: Request) -> Response:
    if service.switches.database_down:
        raise Refusal(503, _DATABASE_DOWN)
    totals, now = service.book.totals(), iso(service.now())
    known: dict[str, object] = {
        "fetchedAt": now,
        "updatedAt": now,
        "tagline": _TAGLINE,
        "totalOrders": totals["orders"],
        "completedOrders": totals["completed"],
        "totalVolumeIdr": totals["idr"],
        "totalVolumeSats": totals["sats"],
    }
    switches = service.switches
    shown = [name for name in switches.profile.stats_keys if name not in switches.stats_without]
    return JSONResponse({name: known[name] for name in shown})


async def _create(service: Service, tenant: str, request: Request) -> Response:
    order = order_creation.place(service, tenant, await _json(request))
    profile = service.switches.profile
    return JSONResponse(created_answer(order, profile), status_code=profile.created_status)


async def _list(service: Service, tenant: str, request: Request) -> Response:
    limit = _limit(request.query_params.get("limit"), clamps=service.switches.profile.junk_limit_is_50)
    profile = service.switches.profile
    orders = [] if service.switches.database_down else service.book.newest(tenant, limit)
    return JSONResponse({"orders": [record(order, profile) for order in orders], "fetchedAt": iso(service.now())})


async def _read(service: Service, tenant: str, request: Request) -> Response:
    order_id = str(request.path_params["order_id"])
    service.limiter.check(tenant, order_id, service.true_now(), service.switches.seconds_between_polls)
    order = service.book.find(order_id)
    if service.switches.database_down and (order is None or order.listed):
        raise Refusal(503, _DATABASE_DOWN)
    if order is None or order.tenant != tenant:
        raise Refusal(404, "order not found")
    return JSONResponse(record(order, service.switches.profile))


async def _json(request: Request) -> object:
    if not request.headers.get("content-type", "").lower().startswith("application/json"):
        raise Refusal(400, "content-type must be application/json")
    body = await request.body()
    if len(body) > _LARGEST_BODY_BYTES:
        raise Refusal(413, "the body is too large")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise MalformedJson(400, "the body is not valid JSON") from None


def _limit(sent: str | None, *, clamps: bool) -> int:
    """Return how many orders to list (settlement API, 4.7). Over 100 always means 100."""
    if sent is None:
        return _DEFAULT_LIMIT
    digits = sent.strip().removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < _MOST:
        limit = int(sent)
        if limit >= 1 or clamps:
            return min(max(limit, 1), _MOST)
    elif clamps:
        return _DEFAULT_LIMIT
    raise Refusal(400, "limit must be a whole number from 1 to 100")

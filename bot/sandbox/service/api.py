"""The seven endpoints of /v1 (settlement API, 4), each behind the key check (settlement API, 5)."""

from __future__ import annotations

import hmac
import json
import math
import re
from typing import TYPE_CHECKING, Final

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.sandbox.service import creation, lifecycle
from bot.sandbox.service.orders import created_answer, iso, rails, record
from bot.sandbox.service.settings import Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from bot.sandbox.settlement import Service

    Handler = Callable[[Service, Request], Awaitable[Response]]
    Endpoint = Callable[[Request], Awaitable[Response]]

_DEFAULT_LIMIT: Final = 50
_MOST: Final = 100
_LARGEST_BODY_BYTES: Final = 100_000
_DATABASE_DOWN: Final = "database unavailable, try again shortly"
_BEARER: Final = re.compile(r"bearer +(\S+) *", re.IGNORECASE)
# Timer jitter must not cause rejections for a client that polls exactly once per second.
_GRACE_SECONDS: Final = 0.05
_TAGLINE: Final = "Bitcoin in, rupiah out."


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
        _check_key(service, request)
        lifecycle.tick(service)
        return await handler(service, request)

    return endpoint


def _check_key(service: Service, request: Request) -> None:
    """Check the key in `x-api-key`, or else in `Authorization` (settlement API, 5).

    Raises:
        Refusal: 401, it doesn't open.
    """
    bearer = _BEARER.fullmatch(request.headers.get("authorization") or "")
    key = request.headers.get("x-api-key") or (bearer[1] if bearer else "")
    if not hmac.compare_digest(key.encode(), service.api_key.encode()) or key.partition(".")[0] in service.revoked:
        raise Refusal(401, "API key missing, revoked or malformed")


def _check_poll(service: Service, order_id: str) -> None:
    """Accept one read per second of each order (settlement API, 6.3 and 8). Rejected reads don't count.

    The document doesn't name the status of a rejection. This service answers 429 with `Retry-After`.

    Raises:
        Refusal: 429, too soon.
    """
    seconds, now, before = service.switches.seconds_between_polls, service.true_now(), service.read_at.get(order_id)
    waited = seconds if before is None else (now - before).total_seconds()
    if 0 <= waited < seconds - _GRACE_SECONDS:
        message = f"polling too fast: at most one request in {seconds:g} s for an order"
        raise Refusal(429, message, retry_after=max(1, math.ceil(seconds - waited)))
    service.read_at[order_id] = now


async def _quote(service: Service, _: Request) -> Response:
    return JSONResponse(service.quote().as_json())


async def _methods(service: Service, _: Request) -> Response:
    return JSONResponse({"statusCode": 200, "message": "OK", "data": service.listing()})


async def _rails(service: Service, _: Request) -> Response:
    switches = service.switches
    explains = switches.profile.explains_missing_rails
    return JSONResponse(rails(configured=switches.configured, explains_missing=explains))


async def _stats(service: Service, _: Request) -> Response:
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


async def _create(service: Service, request: Request) -> Response:
    order = creation.place(service, await _json(request))
    profile = service.switches.profile
    return JSONResponse(created_answer(order, profile), status_code=profile.created_status)


async def _list(service: Service, request: Request) -> Response:
    limit = _limit(request.query_params.get("limit", str(_DEFAULT_LIMIT)))
    profile = service.switches.profile
    orders = [] if service.switches.database_down else service.book.newest(limit)
    return JSONResponse({"orders": [record(order, profile) for order in orders], "fetchedAt": iso(service.now())})


async def _read(service: Service, request: Request) -> Response:
    order_id = str(request.path_params["order_id"])
    _check_poll(service, order_id)
    order = service.book.find(order_id)
    if service.switches.database_down and (order is None or order.listed):
        raise Refusal(503, _DATABASE_DOWN)
    if order is None:
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
        raise Refusal(400, "the body is not valid JSON") from None


def _limit(sent: str) -> int:
    """Return how many orders to list (settlement API, 4.7). Over 100 always means 100."""
    if sent.isascii() and sent.isdigit() and int(sent[:9]):
        return min(int(sent[:9]), _MOST)
    raise Refusal(400, "limit must be a whole number from 1 to 100")

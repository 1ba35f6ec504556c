"""Control endpoints for settings, faults, methods, the price, keys and the request log."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from bot.sandbox.service.control.control import control_route, text_field
from bot.sandbox.service.errors import ControlRefusal
from bot.sandbox.service.orders import lifecycle

if TYPE_CHECKING:
    from starlette.routing import Route

    from bot.sandbox.service.control.control import Body
    from bot.sandbox.service.keys import IssuedKey
    from bot.sandbox.service.service import Service


def routes(service: Service) -> list[Route]:
    """Return the control endpoints for everything except orders."""
    table = (
        ("GET", "/settings", _settings),
        ("POST", "/settings", _change_settings),
        ("GET", "/faults", _faults),
        ("POST", "/faults", _add_fault),
        ("DELETE", "/faults", _clear_faults),
        ("GET", "/methods", _methods),
        ("POST", "/methods", _replace_methods),
        ("DELETE", "/methods", _remove_method),
        ("GET", "/quote", _quote),
        ("POST", "/quote", _set_quote),
        ("GET", "/requests", _requests),
        ("DELETE", "/requests", _clear_requests),
        ("GET", "/keys", _keys),
        ("POST", "/keys", _issue_key),
        ("POST", "/keys/rotate", _rotate_key),
        ("POST", "/keys/revoke", _revoke_key),
    )
    return [control_route(service, method, path, handler) for method, path, handler in table]


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
    if body.get("id") is None:
        service.faults.clear()
    else:
        service.faults.remove(body["id"])
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
        service.methods.remove(text_field(body, "bankCode"), service.switches.profile)
    return await _changed_methods(service, body)


async def _changed_methods(service: Service, body: Body) -> object:
    if body.get("flush") is True:
        service.methods.flush()
    return {"methods": service.methods.current(service.switches.profile)}


async def _quote(service: Service, _body: Body) -> object:
    return service.quote().as_json()


async def _set_quote(service: Service, body: Body) -> object:
    btc, usdc = _rate(body, "btcIdr"), _rate(body, "usdcIdr")
    return service.quotes.set(service.now(), btc, usdc).as_json()


async def _requests(service: Service, _body: Body) -> object:
    return service.requests.as_json()


async def _clear_requests(service: Service, _body: Body) -> object:
    service.requests.clear()
    return service.requests.as_json()


async def _keys(service: Service, _body: Body) -> object:
    return {"keys": service.keys.shown()}


async def _issue_key(service: Service, body: Body) -> object:
    return _issued(service.keys.issue(text_field(body, "tenant")))


async def _rotate_key(service: Service, body: Body) -> object:
    return _issued(service.keys.rotate(text_field(body, "keyId")))


async def _revoke_key(service: Service, body: Body) -> object:
    service.keys.revoke(text_field(body, "keyId"))
    return {"keys": service.keys.shown()}


def _issued(key: IssuedKey) -> dict[str, object]:
    return {"apiKey": key.api_key, "keyId": f"pk_live_{key.key_id}", "tenant": key.tenant}


def _rate(body: Body, name: str) -> Decimal | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 10**13:
        raise ControlRefusal(400, f"{name} must be a number from 1 to 10^13")
    return Decimal(str(value))

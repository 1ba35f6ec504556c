"""Who can call the tools: allowed hosts and pages (agent tool server, 4.3.1) with the bearer token (5.3)."""

import hmac
import re
from collections.abc import Collection
from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.mcp_server.http.responses import error_response

log = structlog.get_logger(__name__)

HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")


class HostMiddleware:
    """Rejects requests with a `Host` or an `Origin` that isn't allowed. It protects against DNS rebinding.

    Browsers send the page's address as `Origin`, programs don't. The page must be on an allowed host. If any host is
    allowed, the page must be on the requested host. So no other site can make its visitors' browsers call the tools.

    Starlette's check knows neither ports nor `Origin`. The SDK's check accepts anything after a colon as a port, covers
    only `/mcp`, and logs what was sent. Neither notices a second `Host`.
    """

    def __init__(self, app: ASGIApp, *, allowed: Collection[str]) -> None:
        self._app = app
        self._allowed = frozenset(host.lower() for host in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on an allowed request. The health check needs an allowed host too."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if not self._are_allowed(hosts):
            log.debug("request_rejected", status=403, reason="host")
            await error_response(403, "Host not allowed")(scope, receive, send)
        elif not all(self._is_allowed_origin(origin, hosts) for origin in origins):
            log.debug("request_rejected", status=403, reason="origin")
            await error_response(403, "Origin not allowed")(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _are_allowed(self, hosts: list[str]) -> bool:
        return not self._allowed or (len(hosts) == 1 and self._is_listed(hosts[0]))

    def _is_listed(self, host: str) -> bool:
        """Return whether the list has this host, with or without its port."""
        return not self._allowed.isdisjoint({host.lower(), without_port(host)} - {""})

    def _is_allowed_origin(self, origin: str, hosts: list[str]) -> bool:
        page = _host_of(origin)
        if self._allowed:
            return self._is_listed(page)
        return bool(without_port(page)) and [without_port(host) for host in hosts] == [without_port(page)]


def without_port(host: str) -> str:
    """Return a host's name without the port. Return an empty string for text that isn't a host."""
    found = HOST.fullmatch(host.lower())
    return found["name"] if found else ""


def _host_of(origin: str) -> str:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    is_bare = origin.lower() == f"{parts.scheme}://{parts.netloc}".lower()
    return parts.netloc if is_bare and parts.scheme in {"http", "https"} else ""


class BearerMiddleware:
    """Rejects calls without the bearer token, always with the same answer.

    Failed attempts aren't counted. Nobody can guess 32 random bytes, and a limit on attempts could lock out the owner.

    The SDK's check is for tokens of an OAuth server, and overlooks a second `Authorization` header.
    """

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        if not token:
            raise ValueError("a server without a token would be open to everybody")
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a call with the token."""
        if self._is_valid([value for name, value in scope["headers"] if name == b"authorization"]):
            await self._app(scope, receive, send)
        else:
            log.debug("request_rejected", status=401)
            response = error_response(401, "Unauthorized", {"www-authenticate": "Bearer"})
            await response(scope, receive, send)

    def _is_valid(self, credentials: list[bytes]) -> bool:
        if len(credentials) != 1:
            return False
        scheme, _, token = credentials[0].partition(b" ")
        return hmac.compare_digest(token, self._token) and scheme.lower() == b"bearer"

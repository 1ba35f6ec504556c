"""Which hosts are asked for, and from which pages: protection against DNS rebinding (agent tool server, 4.3.1)."""

import re
from collections.abc import Collection
from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.mcp_server.http.answers import answer, problem

log = structlog.get_logger(__name__)

HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")


class Hosts:
    """Refuses a `Host` that isn't on the list, and an `Origin` that isn't either.

    A page of the web names itself in `Origin`; programs don't. It has to be a page of an allowed host, or, where any
    host is allowed, of the very host that is asked for. So no other site can make its visitors' browsers ask us.

    Starlette's check knows neither ports nor `Origin`. The SDK's takes anything after a colon for a port, covers
    `/mcp` alone and logs what was sent. Neither notices a second `Host`.
    """

    def __init__(self, app: ASGIApp, *, allowed: Collection[str]) -> None:
        self._app = app
        self._allowed = frozenset(host.lower() for host in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may come in; the health check is asked for by a host like everything else."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if not self._are_allowed(hosts):
            log.debug("request_rejected", status=403, reason="host")
            await answer(problem(403, "Host not allowed"), scope, receive, send)
        elif not all(self._is_ours(origin, hosts) for origin in origins):
            log.debug("request_rejected", status=403, reason="origin")
            await answer(problem(403, "Origin not allowed"), scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _are_allowed(self, hosts: list[str]) -> bool:
        return not self._allowed or (len(hosts) == 1 and self._is_listed(hosts[0]))

    def _is_listed(self, host: str) -> bool:
        """With its port or without, as the list may have it."""
        return not self._allowed.isdisjoint({host.lower(), name_of(host)} - {""})

    def _is_ours(self, origin: str, hosts: list[str]) -> bool:
        page = _host_of(origin)
        if self._allowed:
            return self._is_listed(page)
        return bool(name_of(page)) and [name_of(host) for host in hosts] == [name_of(page)]


def name_of(host: str) -> str:
    """Return a host's name without the port; empty where it isn't a host."""
    found = HOST.fullmatch(host.lower())
    return found["name"] if found else ""


def _host_of(origin: str) -> str:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    is_bare = origin.lower() == f"{parts.scheme}://{parts.netloc}".lower()
    return parts.netloc if is_bare and parts.scheme in {"http", "https"} else ""

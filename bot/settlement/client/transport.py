"""Connections to the service, on aiohttp.

- Whether a request may have been sent isn't guessed from the kind of a failure. It is noted directly before the first
  byte (`Sending`).
- A POST is permitted only then. Its process may have stood still since it was requested.
- A POST gets a new connection. The server could close an idle one at that moment, and the outcome would be unknown for
  no reason. One handshake per order costs little.
- The system would try for a quarter of an hour to deliver a POST that the network swallows, even after its process has
  ended. It gives up after ten seconds, where it can be told so.
- Each read is sent once, too. aiohttp would silently repeat one that was cut off, but the client has to count them.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.http_exceptions import ContentEncodingError

from bot.infra.checked_requests import create_request_class
from bot.infra.tls import get_tls_context
from bot.settlement.client.errors import NeverReached, NoAnswer, NotUnderstood, SettlementError, TooLate
from bot.settlement.client.http import RawResponse, Request, Timeouts

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CONNECTIONS = 100
# Common servers close an idle connection after five seconds. The client has to close it first.
KEEP_SECONDS = 4.0

DELIVERED_WITHIN_SECONDS = 10
"""How long the system tries to deliver a POST that was handed to it."""

LARGEST_BODY = 4 * 1024 * 1024

# All failures of aiohttp and of sockets. A TimeoutError is an OSError.
_FAILURES = (aiohttp.ClientError, OSError)


@dataclass(slots=True)
class Sending:
    """The sending of one request.

    Attributes:
        may_begin: whether the request may still be sent.
        has_begun: whether any of it may have been sent.
    """

    may_begin: Callable[[], bool]
    has_begun: bool = False

    def begin(self) -> None:
        """Begin to send, directly before the first byte.

        Raises:
            TooLate: it may no longer be sent.
        """
        if not self.may_begin():
            raise TooLate("its time was over before it was sent")
        self.has_begun = True

    def explain(self, failure: Exception) -> SettlementError:
        """Return the error for a failure. It says whether the request may have arrived."""
        kind = type(failure).__name__
        return NoAnswer(kind) if self.has_begun else NeverReached(f"{kind}: {failure}".rstrip(": "))


_SENDING: ContextVar[Sending] = ContextVar("sending")
"""The request that the current task sends."""


def _begin_to_send() -> None:
    _SENDING.get().begin()


async def _send_once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Raise our own errors, because aiohttp sends a read again after some of its own."""
    try:
        return await send(request)
    except _FAILURES as failure:
        raise _SENDING.get().explain(failure) from None


def _create_socket(address: tuple[Any, ...]) -> socket.socket:
    """Return a socket that doesn't deliver anything later. Where the system can't do that, it is an ordinary one."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    if (user_timeout := getattr(socket, "TCP_USER_TIMEOUT", None)) is not None:
        # A system that knows the name can still refuse the option. That must not refuse every order.
        with contextlib.suppress(OSError):
            made.setsockopt(socket.IPPROTO_TCP, user_timeout, DELIVERED_WITHIN_SECONDS * 1000)
    return made


class ServiceTransport:
    """Carries reads on kept connections and each POST on a new one, up to 100 of each at once (`http.Transport`).

    Args:
        timeouts: `total` is that of each request.
        is_encrypted: whether the service's address has TLS. Without it, no certificates are loaded.
    """

    def __init__(self, timeouts: Timeouts, *, is_encrypted: bool) -> None:
        self._timeouts = aiohttp.ClientTimeout(
            connect=timeouts.pool, sock_connect=timeouts.connect, sock_read=timeouts.read
        )
        tls = get_tls_context() if is_encrypted else True
        self._kept = self._open(aiohttp.TCPConnector(limit=MAX_CONNECTIONS, ssl=tls, keepalive_timeout=KEEP_SECONDS))
        self._fresh = self._open(
            aiohttp.TCPConnector(limit=MAX_CONNECTIONS, ssl=tls, force_close=True, socket_factory=_create_socket)
        )

    def _open(self, connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=connector,
            timeout=self._timeouts,
            request_class=create_request_class(_begin_to_send),
            cookie_jar=aiohttp.DummyCookieJar(),
            middlewares=[_send_once],
        )

    async def send(self, request: Request, seconds: float) -> RawResponse:
        """Send the request once, and return its answer within `seconds`. Raises as `http.Transport` says."""
        session = self._fresh if request.method == "POST" else self._kept
        sending = Sending(request.may_send)
        _SENDING.set(sending)
        try:
            async with (
                asyncio.timeout(seconds),
                session.request(
                    request.method, request.url, headers=request.headers, data=request.body, allow_redirects=False
                ) as answer,
            ):
                if not sending.has_begun:
                    # Another version of aiohttp. With it, no lost order could be told from one that was never sent.
                    raise RuntimeError("aiohttp sent a request without asking first")
                return await _read(answer)
        except _FAILURES as failure:
            raise sending.explain(failure) from None

    async def aclose(self) -> None:
        """Close every connection."""
        await self._kept.close()
        await self._fresh.close()


async def _read(answer: aiohttp.ClientResponse) -> RawResponse:
    body = bytearray()
    fault: SettlementError | None = None
    try:
        async for chunk in answer.content.iter_any():
            body += chunk
            if len(body) > LARGEST_BODY:
                fault = NotUnderstood("the body is too long", status=answer.status)
                break
    except _FAILURES as failure:
        if isinstance(failure.__cause__, ContentEncodingError):
            fault = NotUnderstood("the body can't be decompressed", status=answer.status)
        else:
            fault = NoAnswer("the answer was cut short")
    return RawResponse(answer.status, answer.headers, bytes(body), fault)

"""Connections to the service, on httpx's transport. It follows no redirect, keeps no cookie and knows no proxy.

- Whether a request may have been sent isn't guessed from the kind of a failure. It is noted directly before the first
  byte (`Sending`).
- A POST is permitted only then. Its process may have stood still since it was requested.
- A POST gets a new connection. The server could close an idle one at that moment, and the outcome would be unknown for
  no reason. One handshake per order costs little.
- The system would try for a quarter of an hour to deliver a POST that the network swallows, even after its process has
  ended. It gives up after ten seconds, where it can be told so.
- No request is repeated, also not one that was lost on a connection that the server had just closed. The client has to
  count them.
- The service is asked not to compress, because a small answer could become a huge one.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import httpx

from bot.infra.tls import get_tls_context
from bot.settlement.errors import NeverReached, NoAnswer, NotUnderstood, SettlementFailure, TooLate
from bot.settlement.http import RawResponse, Request, Timeouts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

MAX_CONNECTIONS = 100
MAX_IDLE = 10
# Common servers close an idle connection after five seconds. The client has to close it first.
KEEP_SECONDS = 4.0

DELIVERED_WITHIN_SECONDS = 10
"""How long the system tries to deliver a POST that was handed to it."""

LARGEST_BODY = 4 * 1024 * 1024

# What httpcore reports directly before it writes the head and the body of a request.
WRITES: Final = frozenset({"http11.send_request_headers.started", "http11.send_request_body.started"})


@dataclass(slots=True)
class Sending:
    """The sending of one request.

    Attributes:
        may_begin: whether the request may still be sent.
        has_begun: whether any of it may have been sent.
    """

    may_begin: Callable[[], bool]
    has_begun: bool = False

    async def trace(self, event: str, _: object) -> None:
        """Permit the head and then the body of the request. Nothing else runs between that and the write.

        Raises:
            TooLate: it may no longer be sent. No order comes of a head without its body.
        """
        if event in WRITES:
            if not self.may_begin():
                raise TooLate("its time was over before it was sent")
            self.has_begun = True

    def explain(self, failure: Exception) -> SettlementFailure:
        """Return the error for a failure. It says whether the request may have arrived."""
        kind = type(failure).__name__
        return NoAnswer(kind) if self.has_begun else NeverReached(f"{kind}: {failure}".rstrip(": "))


def _delivery_limit() -> list[tuple[int, int, int]]:
    """Return the option of a socket that doesn't deliver anything later, or none where the system doesn't accept it."""
    try:
        option = (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DELIVERED_WITHIN_SECONDS * 1000)
        with socket.socket() as probe:
            probe.setsockopt(*option)
    except (AttributeError, OSError):
        return []
    return [option]


class ServiceTransport:
    """Carries reads on kept connections and each POST on a new one, up to 100 of each at once (`http.Transport`).

    Each connection is a transport of httpx of its own. A pool of httpcore 1.0.9 is never rid of a connection whose
    request was cancelled at the wrong moment, until it has no place for another.

    Args:
        timeouts: `total` is that of each request.
        is_encrypted: whether the service's address has TLS. Without it, no certificates are loaded.
    """

    def __init__(self, timeouts: Timeouts, *, is_encrypted: bool) -> None:
        self._timeouts = timeouts
        self._tls = get_tls_context() if is_encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._delivery_limit = _delivery_limit()
        self._places = {method: asyncio.Semaphore(MAX_CONNECTIONS) for method in ("GET", "POST")}
        self._open: set[httpx.AsyncHTTPTransport] = set()
        self._idle: list[httpx.AsyncHTTPTransport] = []
        self._is_closed = False

    async def send(self, request: Request, seconds: float) -> RawResponse:
        """Send the request once, and return its answer within `seconds`. Raises as `http.Transport` says."""
        sending = Sending(lambda: not self._is_closed and request.may_send())
        limits = {"connect": self._timeouts.connect, "read": self._timeouts.read, "write": self._timeouts.read}
        try:
            outgoing = httpx.Request(
                request.method,
                request.url,
                headers={**request.headers, "accept-encoding": "identity"},
                content=request.body,
                extensions={"timeout": limits, "trace": sending.trace},
            )
            async with (
                asyncio.timeout(seconds),
                self._connection(request.method) as connection,
                aclosing(await connection.handle_async_request(outgoing)) as answer,
            ):
                response = await _read(answer)
        except SettlementFailure:
            raise
        except Exception as failure:  # noqa: BLE001  its kind says nothing
            raise sending.explain(failure) from None
        if not sending.has_begun:
            # Another version of httpcore. With it, no lost order could be told from one that was never sent.
            raise RuntimeError("httpcore sent a request without asking first")
        return response

    @asynccontextmanager
    async def _connection(self, method: str) -> AsyncIterator[httpx.AsyncHTTPTransport]:
        """Yield a connection that no other request uses. It is kept after a read that didn't fail."""
        async with asyncio.timeout(self._timeouts.pool):
            await self._places[method].acquire()
        if method == "GET" and self._idle:
            connection = self._idle.pop()
        else:
            connection = httpx.AsyncHTTPTransport(
                verify=self._tls,
                limits=httpx.Limits(keepalive_expiry=KEEP_SECONDS),
                socket_options=self._delivery_limit,
            )
            self._open.add(connection)
        is_kept = False
        try:
            yield connection
            is_kept = method == "GET" and len(self._idle) < MAX_IDLE and not _has_more(connection)
        finally:
            self._places[method].release()
            if is_kept:
                self._idle.append(connection)
            else:
                self._open.discard(connection)
                await connection.aclose()

    async def aclose(self) -> None:
        """Close every connection. Requests that wait for one aren't sent."""
        self._is_closed = True
        for connection in list(self._open):
            await connection.aclose()


def _has_more(connection: Any) -> bool:  # noqa: ANN401  parts of it that aren't public
    """Return whether more has arrived than the answer. The next request would take it for its own."""
    try:
        return any(each._connection._h11_state.trailing_data[0] for each in connection._pool.connections)  # noqa: SLF001
    except AttributeError:
        return True  # another version of httpcore. With it, no connection is kept


async def _read(answer: httpx.Response) -> RawResponse:
    body = bytearray()
    fault: SettlementFailure | None = None
    try:
        async for chunk in answer.aiter_raw():
            body += chunk
            if len(body) > LARGEST_BODY:
                fault = NotUnderstood("the body is too long", status=answer.status_code)
                break
    except Exception:  # noqa: BLE001  as above
        fault = NoAnswer("the answer was cut short")
    return RawResponse(answer.status_code, answer.headers, bytes(body), fault)

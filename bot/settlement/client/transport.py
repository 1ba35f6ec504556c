"""Connections to the service: aiohttp under httpx, with the causes of failures kept distinct.

httpx's own pool costs time quadratic in the number of open requests, so aiohttp carries them. This module corrects
five things:

- httpx-aiohttp reports every broken connection as a time-out while connecting, so an order that may exist would look
  unsent. `_translated` uses aiohttp's own exception instead.
- aiohttp would silently repeat a read that was cut off. The client has to count every read of an order.
- A POST gets a new connection. The server could close an idle one at that moment, and the outcome would be unknown for
  no reason. One handshake per order costs little.
- A POST is checked directly before its first byte (`Sending`). Its process may have stood still since it was requested.
- The system would try for a quarter of an hour to deliver a POST that the network swallows, even after its process has
  ended. It gives up after ten seconds, where it can be told so.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import ssl
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from bot.infra.checked_requests import create_request_class
from bot.infra.tls import get_tls_context
from bot.settlement.client.http import SENDING, Sending, SendingTooLate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MAX_CONNECTIONS = 100
# Common servers close an idle connection after five seconds. The client has to close it first.
KEEP_SECONDS = 4.0

DELIVERED_WITHIN_SECONDS = 10
"""How long the system tries to deliver a POST that was handed to it."""

_SENDING: ContextVar[Sending | None] = ContextVar("sending", default=None)
"""The permission for the POST of the current task."""

# Everything that aiohttp raises before it writes a byte of the request.
_BEFORE_SENDING = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ServerFingerprintMismatch,
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
)
_FOREIGN = (httpx.TransportError, aiohttp.ClientError, OSError)


class _ConnectionBroken(aiohttp.ClientError):
    """Carries a failure as its cause, in a type after which aiohttp doesn't send the request again."""


async def _send_once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    try:
        return await send(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _ConnectionBroken from error


def _translated(error: Exception) -> httpx.TransportError:
    is_wrapped = isinstance(error, httpx.TransportError | _ConnectionBroken)
    cause = error.__cause__ if is_wrapped and error.__cause__ else error
    if isinstance(cause, SendingTooLate):
        return cause
    if isinstance(cause, aiohttp.ConnectionTimeoutError):
        return httpx.ConnectTimeout("no connection in time")
    if isinstance(cause, _BEFORE_SENDING):
        return httpx.ConnectError(str(cause))
    if isinstance(cause, TimeoutError):
        return httpx.ReadTimeout("no answer in time")
    if isinstance(cause, aiohttp.ClientResponseError):
        return httpx.RemoteProtocolError("the answer is not HTTP")
    return httpx.ReadError(type(cause).__name__)


class _Body(httpx.AsyncByteStream):
    """A response's body. Its failures are translated like those of the headers."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                yield chunk
        except _FOREIGN as error:
            raise _translated(error) from None

    async def aclose(self) -> None:
        # The answer is complete, or known to be cut off. An error on closing doesn't matter.
        with contextlib.suppress(*_FOREIGN):
            await self._stream.aclose()


def _begin_to_send() -> None:
    sending = _SENDING.get()
    if sending is not None:
        sending.begin()


def _create_socket(address: tuple[Any, ...]) -> socket.socket:
    """Return a socket that doesn't deliver anything later. Where the system can't do that, it is an ordinary one."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    if (user_timeout := getattr(socket, "TCP_USER_TIMEOUT", None)) is not None:
        # A system that knows the name can still refuse the option. That must not refuse every order.
        with contextlib.suppress(OSError):
            made.setsockopt(socket.IPPROTO_TCP, user_timeout, DELIVERED_WITHIN_SECONDS * 1000)
    return made


def _session(context: ssl.SSLContext, *, kept: bool) -> aiohttp.ClientSession:
    if kept:
        connector = aiohttp.TCPConnector(limit=MAX_CONNECTIONS, ssl=context, keepalive_timeout=KEEP_SECONDS)
    else:
        connector = aiohttp.TCPConnector(
            limit=MAX_CONNECTIONS, ssl=context, force_close=True, socket_factory=_create_socket
        )
    return aiohttp.ClientSession(
        connector=connector,
        request_class=create_request_class(_begin_to_send),
        cookie_jar=aiohttp.DummyCookieJar(),
        middlewares=[_send_once],
    )


class ServiceTransport(httpx.AsyncBaseTransport):
    """Carry reads on kept connections and each POST on a new one, up to 100 of each at once.

    It raises httpx's errors. ConnectError and ConnectTimeout mean that nothing was sent. After any other error the
    request may have arrived, unless the request's `Sending` hasn't begun.
    """

    def __init__(self, *, is_encrypted: bool = True) -> None:
        # An address without TLS needs no certificates, so they aren't loaded for it.
        context = get_tls_context() if is_encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._kept = AiohttpTransport(verify=context, client=functools.partial(_session, context, kept=True))
        self._fresh = AiohttpTransport(verify=context, client=functools.partial(_session, context, kept=False))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request. Return its answer when the headers have arrived."""
        carrier = self._fresh if request.method == "POST" else self._kept
        sending: Sending | None = request.extensions.get(SENDING)
        if sending is not None:
            sending.has_begun = False
        token = _SENDING.set(sending)
        try:
            response = await carrier.handle_async_request(request)
        except _FOREIGN as error:
            raise _translated(error) from None
        finally:
            _SENDING.reset(token)
        # httpx logs the reason phrase. It is the service's text and can repeat what was sent.
        response.extensions.pop("reason_phrase", None)
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _Body(response.stream)
        return response

    async def aclose(self) -> None:
        """Close every connection."""
        await self._kept.aclose()
        await self._fresh.aclose()

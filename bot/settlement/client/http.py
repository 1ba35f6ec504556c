"""One HTTP exchange with the service: sent once, limited in time, every failure translated into our errors."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import httpx

from bot.settlement.client.errors import (
    Answered,
    KeyRefused,
    NeverReached,
    NoAnswer,
    NotFound,
    NotUnderstood,
    RateLimited,
    ServerError,
    SettlementError,
    TooLate,
    Unavailable,
    UnexpectedStatus,
    ValidationRejected,
)
from bot.settlement.client.parser import ServiceResponse, excerpt, read_json
from bot.settlement.client.retry import parse_http_date, parse_retry_after

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LARGEST_BODY = 4 * 1024 * 1024

SENDING = "sending"
"""The extension of a request that has its `Sending`."""

_NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
_CLASSES: Mapping[int, type[Answered]] = {
    HTTPStatus.BAD_REQUEST: ValidationRejected,
    HTTPStatus.UNAUTHORIZED: KeyRefused,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.TOO_MANY_REQUESTS: RateLimited,
    HTTPStatus.INTERNAL_SERVER_ERROR: ServerError,
    HTTPStatus.SERVICE_UNAVAILABLE: Unavailable,
}


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: for a connection, for silence while reading or writing, for a free slot, and for a whole attempt."""

    connect: float = 5.0
    read: float = 20.0
    write: float = 10.0
    pool: float = 10.0
    total: float = 30.0


class SendingTooLate(httpx.ConnectError):
    """The transport didn't send a request, because its time was over."""


@dataclass(slots=True)
class Sending:
    """The permission to send a POST, which the transport checks directly before the first byte.

    Attributes:
        may_begin: whether the request may still be sent.
        has_begun: whether any of it may have been sent. None if the transport doesn't tell.
    """

    may_begin: Callable[[], bool]
    has_begun: bool | None = None

    def begin(self) -> None:
        """Begin to send. Raises `SendingTooLate`."""
        if not self.may_begin():
            raise SendingTooLate("it is too late to send this request")
        self.has_begun = True


@dataclass(frozen=True, slots=True)
class _Received:
    status: int
    headers: httpx.Headers
    body: bytes
    cut: type[SettlementError] | None


async def exchange(client: httpx.AsyncClient, request: httpx.Request, seconds: float) -> ServiceResponse:
    """Send the request once and read the whole answer within `seconds`. Redirects aren't followed.

    Raises:
        Answered: one of its classes, by status.
        NeverReached: nothing was sent.
        TooLate: nothing was sent, because the time for it was over.
        NoAnswer: the request may have arrived. The same holds after a cancellation.
        NotUnderstood: the answer isn't JSON.
    """
    try:
        async with asyncio.timeout(seconds):
            received = await _receive(client, request)
    except SendingTooLate:
        raise TooLate("its time was over before it was sent") from None
    except _NOTHING_SENT as error:
        raise NeverReached(f"{type(error).__name__}: {error}") from None
    except httpx.RemoteProtocolError:
        raise NoAnswer("closed, or not HTTP") from None
    except (httpx.TransportError, TimeoutError) as error:
        sending: Sending | None = request.extensions.get(SENDING)
        if sending is not None and sending.has_begun is False:
            raise NeverReached(f"{type(error).__name__} before anything was sent") from None
        raise NoAnswer(type(error).__name__) from None
    return _judged(received, personal=request.method == "POST")


async def _receive(client: httpx.AsyncClient, request: httpx.Request) -> _Received:
    response = await client.send(request, stream=True)
    body = bytearray()
    cut: type[SettlementError] | None = None
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > LARGEST_BODY:
                cut = NotUnderstood
                break
    except httpx.DecodingError:
        cut = NotUnderstood
    except httpx.TransportError:
        cut = NoAnswer
    finally:
        await response.aclose()
    return _Received(response.status_code, response.headers, bytes(body), cut)


def _judged(received: _Received, *, personal: bool) -> ServiceResponse:
    date = parse_http_date(received.headers.get("date"))
    if not HTTPStatus(200) <= received.status < HTTPStatus(300):
        raise _refusal(received, date)
    if received.cut is NoAnswer:
        raise NoAnswer("the answer was cut short")
    if received.cut:
        raise NotUnderstood("unreadable body", status=received.status)
    try:
        value = read_json(received.body)
    except ValueError:
        page = "" if personal else excerpt(_text(received.body))
        raise NotUnderstood("not JSON", status=received.status, excerpt=page) from None
    return ServiceResponse(received.status, value, date)


def _refusal(received: _Received, date: datetime | None) -> Answered:
    """Return the error of a status. The status alone decides, even if the body is cut off (settlement API, 7)."""
    wait = parse_retry_after(received.headers.get("retry-after"), date or datetime.now(UTC))
    kind = _CLASSES.get(received.status, UnexpectedStatus)
    return kind(received.status, _text(received.body), _error_text(received.body), retry_after=wait)


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _error_text(body: bytes) -> str | None:
    try:
        value: Any = read_json(body)
    except ValueError:
        return None
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, str) else None

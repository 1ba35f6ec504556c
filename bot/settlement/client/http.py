"""Requests to the service, its raw answers, and which of our errors an answer is."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from bot.settlement.client.errors import (
    Answered,
    KeyRefused,
    NotFound,
    NotUnderstood,
    RateLimited,
    ServerError,
    SettlementError,
    Unavailable,
    UnexpectedStatus,
    ValidationRejected,
)
from bot.settlement.client.parser import ServiceResponse, excerpt, read_json
from bot.settlement.client.retry import parse_http_date, parse_retry_after

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    """Seconds: to connect to one address, for silence while reading, to get a connection, and for a whole attempt."""

    connect: float = 5.0
    read: float = 20.0
    pool: float = 10.0
    total: float = 30.0


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request.

    Attributes:
        method: GET, or POST for what must never be sent twice.
        url: the whole address.
        headers: all that the service needs, with the key.
        body: JSON, with personal data.
        may_send: whether the request may still be sent. The transport asks directly before the first byte.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(default=None, repr=False)
    may_send: Callable[[], bool] = lambda: True


@dataclass(frozen=True, slots=True)
class RawResponse:
    """An answer, from its headers on.

    Attributes:
        status: the HTTP status.
        headers: found by their names in lower case.
        body: what could be read of it.
        fault: the error for a success whose body couldn't be read whole.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    fault: SettlementError | None = None


class Transport(Protocol):
    """Carries requests to the service. It has to know whether a request may have been sent."""

    async def send(self, request: Request, seconds: float) -> RawResponse:
        """Send the request once, and return its answer within `seconds`. Redirects aren't followed.

        Raises:
            NeverReached: nothing was sent.
            TooLate: nothing was sent, because the time for it was over.
            NoAnswer: the request may have arrived. The same holds after a cancellation.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


def read_response(response: RawResponse, *, is_personal: bool) -> ServiceResponse:
    """Return the JSON of a success. The texts of a personal answer aren't shown.

    Raises:
        Answered: one of its classes, by status.
        NoAnswer: the body was cut short.
        NotUnderstood: the body isn't JSON.
    """
    date = parse_http_date(response.headers.get("date"))
    if not HTTPStatus(200) <= response.status < HTTPStatus(300):
        raise _refusal(response, date)
    if response.fault:
        raise response.fault
    try:
        value = read_json(response.body)
    except ValueError:
        page = "" if is_personal else excerpt(_text(response.body))
        raise NotUnderstood("not JSON", status=response.status, excerpt=page) from None
    return ServiceResponse(response.status, value, date)


def _refusal(response: RawResponse, date: datetime | None) -> Answered:
    """Return the error of a status. The status alone decides, even if the body is cut off (settlement API, 7)."""
    wait = parse_retry_after(response.headers.get("retry-after"), date or datetime.now(UTC))
    kind = _CLASSES.get(response.status, UnexpectedStatus)
    return kind(response.status, _text(response.body), _error_text(response.body), retry_after=wait)


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _error_text(body: bytes) -> str | None:
    try:
        value: Any = read_json(body)
    except ValueError:
        return None
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, str) else None

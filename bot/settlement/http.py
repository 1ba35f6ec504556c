"""Requests to the service, its raw answers, which failure an answer is, and when a read is repeated."""

from __future__ import annotations

import email.utils
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from bot.core.backoff import Backoff
from bot.settlement.errors import NotUnderstood, SettlementFailure, failure_of_status
from bot.settlement.reading import ServiceResponse, read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect (and again for TLS), for silence, to get a connection, and for a whole attempt."""

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
    fault: SettlementFailure | None = None


class Transport(Protocol):
    """Carries requests to the service. It has to know whether a request may have been sent."""

    async def send(self, request: Request, seconds: float) -> RawResponse:
        """Send the request once, and return its answer within `seconds`. Redirects aren't followed.

        Raises:
            NeverReached: nothing was sent.
            TooLate: it wasn't sent, because the time for it was over. At most, the head of a POST was.
            NoAnswer: the request may have arrived. The same holds after a cancellation.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


def read_response(response: RawResponse) -> ServiceResponse:
    """Return the JSON of a success.

    Raises:
        SettlementFailure: of the status. It alone decides, even if the body is cut off (settlement API, 7).
        NoAnswer: the body was cut short.
        NotUnderstood: the body isn't JSON.
    """
    date = parse_http_date(response.headers.get("date"))
    if not HTTPStatus(200) <= response.status < HTTPStatus(300):
        wait = parse_retry_after(response.headers.get("retry-after"), date or datetime.now(UTC))
        reason = _read_reason(response.body)
        raise failure_of_status(response.status)(status=response.status, reason=reason, retry_after=wait)
    if response.fault:
        raise response.fault
    try:
        value = read_json(response.body)
    except ValueError:
        raise NotUnderstood("not JSON", status=response.status) from None
    return ServiceResponse(response.status, value, date)


def _read_reason(body: bytes) -> str:
    """Return the `error` text of a body, or an empty text."""
    try:
        value: Any = read_json(body)
    except ValueError:
        return ""
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, str) else ""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Jittered exponential back-off for reads. A POST is never repeated.

    Attributes:
        attempts: the maximum attempts, at least 1.
        first_delay: seconds before the second attempt, before jitter; it doubles from attempt to attempt.
        longest_delay: maximum seconds between two attempts. A longer `Retry-After` ends the attempts:
            a retry is never sooner than the service asked.
        total: seconds that all attempts and pauses can take together.
    """

    attempts: int = 4
    first_delay: float = 0.5
    longest_delay: float = 10.0
    total: float = 40.0

    def pause(self, attempt: int, error: SettlementFailure, chance: float) -> float | None:
        """Return the seconds to wait after the failed `attempt` (1 is the first), or None to give up.

        Args:
            attempt: the number of the attempt that failed.
            error: how it failed.
            chance: a random number from 0 to 1; spreads the pause over half to all of its length.
        """
        if not error.is_transient or attempt >= self.attempts:
            return None
        backed_off = Backoff(self.first_delay, self.longest_delay).after(attempt) * (0.5 + chance / 2)
        requested = error.retry_after or 0.0
        if requested > self.longest_delay:
            return None
        return max(backed_off, requested + self.first_delay * chance if requested else 0.0)


def parse_http_date(text: str | None) -> datetime | None:
    """Return an HTTP date as aware UTC, or None if it isn't one."""
    if not text:
        return None
    try:
        moment = email.utils.parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_retry_after(text: str | None, now: datetime) -> float | None:
    """Return the seconds from `now` (the service's clock, if known) that a `Retry-After` header asks for, 0 or more.

    The header is a number of seconds or an HTTP date. Return None if it is absent or neither.
    """
    if text is None:
        return None
    if text.strip().isascii() and text.strip().isdigit():
        return float(text.strip()[:9])
    moment = parse_http_date(text)
    return None if moment is None else max(0.0, (moment - now).total_seconds())

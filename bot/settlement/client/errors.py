"""Errors of the settlement client, and whether an order may exist after them.

    SettlementError
    ├── Answered               the service answered, but not with a success; carries status, body and error
    │   ├── ValidationRejected     400
    │   ├── KeyRefused             401
    │   ├── NotFound               404
    │   ├── RateLimited            429
    │   ├── ServerError            500
    │   ├── Unavailable            503
    │   └── UnexpectedStatus       any other
    ├── NeverReached           nothing was sent: no name, no connection, no TLS, no free slot
    │   └── TooLate                its time was over before it could be sent
    ├── NoAnswer               the request may have arrived: time-out, reset, closed before the whole answer
    ├── NotUnderstood          the answer isn't what the document describes: HTML, cut JSON, wrong shape
    └── WaitEnded              `wait_for_order` ended before the order; says nothing about the order
        ├── WaitTimeout            it ran out of time
        └── WaitAborted            its abort signal was set

`str(error)` is safe to log: the service's texts may repeat what it was sent (an account number, a name), so they are
kept out of it and stay in `.body` and `.error`. The document (section 7) has no machine-readable codes.
"""

from __future__ import annotations

from http import HTTPStatus

BODY_LIMIT = 10_000
_MAY_FOLLOW_AN_ORDER = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT)


class SettlementError(Exception):
    """Base class of all errors of this package."""

    @property
    def outcome_unknown(self) -> bool:
        """Return whether a POST that failed like this may have created an order.

        Reconcile before another POST (4.5, 4.7).
        """
        return True

    @property
    def transient(self) -> bool:
        """Return whether the same read may succeed later. A POST is never repeated."""
        return False


class Answered(SettlementError):
    """The service answered with a status other than 2xx (settlement API, 7).

    Attributes:
        status: the HTTP status.
        body: the answer's text, at most 10,000 characters. Can repeat personal data: not for logs.
        error: the `error` text of the body, or None if it has none. Can repeat personal data.
        retry_after: seconds that the service asked us to wait, or None.
    """

    def __init__(
        self, status: int, body: str = "", error: str | None = None, *, retry_after: float | None = None
    ) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body[:BODY_LIMIT]
        self.error = error
        self.retry_after = retry_after

    @property
    def outcome_unknown(self) -> bool:
        """Return False: this status is sent before anything is created."""
        return False

    def __str__(self) -> str:
        return f"{type(self).__name__}: status {self.status}"


class ValidationRejected(Answered):
    """400: a field is missing, invalid or over a cap. `error` says which, in words."""


class KeyRefused(Answered):
    """401: the key is missing, revoked or malformed. Retrying doesn't help until an operator changes it."""


class NotFound(Answered):
    """404: the order doesn't exist, or belongs to another tenant."""


class RateLimited(Answered):
    """429: the limiter rejected the request before it was handled. `retry_after` is how long to wait, if given."""

    @property
    def transient(self) -> bool:
        """Return True."""
        return True


class ServerError(Answered):
    """500. After a POST the order may exist. The live service also sends a 500 for some invalid requests."""

    @property
    def outcome_unknown(self) -> bool:
        """Return True."""
        return True

    @property
    def transient(self) -> bool:
        """Return True."""
        return True


class Unavailable(ServerError):
    """503: the service's database is down for the moment."""


class UnexpectedStatus(Answered):
    """A status that the document doesn't mention: a redirect (never followed), a gateway's 502 or 504, a 405."""

    @property
    def outcome_unknown(self) -> bool:
        """Return True except for 4xx that are always rejections. A 408 or 409 can follow a created order."""
        refused = HTTPStatus.BAD_REQUEST <= self.status < HTTPStatus.INTERNAL_SERVER_ERROR
        return not refused or self.status in _MAY_FOLLOW_AN_ORDER

    @property
    def transient(self) -> bool:
        """Return True for 5xx and 408."""
        return self.status >= HTTPStatus.INTERNAL_SERVER_ERROR or self.status == HTTPStatus.REQUEST_TIMEOUT


class NeverReached(SettlementError):
    """No connection was made, so the service can't have received the request. The text names host and cause."""

    @property
    def outcome_unknown(self) -> bool:
        """Return False."""
        return False

    @property
    def transient(self) -> bool:
        """Return True."""
        return True


class TooLate(NeverReached):
    """The time in which the POST could be sent was over before its first byte. Nothing was sent."""


class NoAnswer(SettlementError):
    """The request was sent, or may have been, and no complete HTTP answer arrived."""

    @property
    def transient(self) -> bool:
        """Return True."""
        return True


class NotUnderstood(SettlementError):
    """The answer isn't what the document describes.

    Attributes:
        status: the HTTP status.
        reason: what is wrong, in our own words and field names. Safe to log.
        excerpt: the beginning of a page that isn't JSON, with longer numbers hidden, at most 120 characters; empty if
            it could hold personal data. Not for logs.
    """

    def __init__(self, reason: str, *, status: int, excerpt: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.excerpt = excerpt

    @property
    def transient(self) -> bool:
        """Return True: such answers usually come from a proxy and pass."""
        return True

    def __str__(self) -> str:
        return f"{type(self).__name__}: status {self.status}: {self.reason}"


class WaitEnded(SettlementError):
    """The wait for an order ended before the order did. `last_state` is the last state read, or None."""

    def __init__(self, last_state: str | None) -> None:
        super().__init__(f"last state {last_state}")
        self.last_state = last_state

    @property
    def outcome_unknown(self) -> bool:
        """Return False: no order was posted."""
        return False


class WaitTimeout(WaitEnded):
    """The order wasn't terminal in time."""


class WaitAborted(WaitEnded):
    """The abort signal was set before the order was terminal."""

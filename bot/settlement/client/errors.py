"""What can go wrong between us and the settlement service, and what it says about a request that creates something.

    SettlementError
    ├── Answered               the service answered, but not with a success; carries status, body and error
    │   ├── ValidationRejected     400
    │   ├── KeyRefused             401
    │   ├── NotFound               404
    │   ├── RateLimited            429
    │   ├── ServerError            500
    │   ├── Unavailable            503
    │   └── UnexpectedStatus       any other
    ├── NeverReached           surely nothing was sent: no name, no connection, no TLS, no free slot
    ├── NoAnswer               the request may have arrived: time-out, reset, closed before the whole answer
    ├── NotUnderstood          an answer came and is not what the document describes: HTML, cut JSON, wrong shape
    └── WaitTimeout            `wait_for_order` ran out of time; says nothing about the order

`str(error)` is safe to log: the service's texts may repeat what it was sent (an account number, a name), so they are
kept out of it and stay in `.body` and `.error`. The document (section 7) has no machine-readable codes.
"""

from __future__ import annotations

from http import HTTPStatus

BODY_LIMIT = 10_000
_MAY_FOLLOW_AN_ORDER = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT)


class SettlementError(Exception):
    """Anything this package raises on purpose."""

    @property
    def outcome_unknown(self) -> bool:
        """Whether a POST that ended so may have made an order. Never post again without reconciling (4.5, 4.7)."""
        return True

    @property
    def transient(self) -> bool:
        """Whether asking the same thing again later may well succeed. For reads; a POST is never repeated."""
        return False


class Answered(SettlementError):
    """The service answered with a status other than 2xx (settlement API, 7).

    Attributes:
        status: the HTTP status.
        body: the answer's text, at most 10,000 characters. May repeat personal data: not for logs.
        error: the `error` text of the body, or None where the body has none. May repeat personal data.
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
        """False: this status is a refusal before anything was made."""
        return False

    def __str__(self) -> str:
        return f"{type(self).__name__}: status {self.status}"


class ValidationRejected(Answered):
    """400: a field is missing, invalid or over a cap; `error` tells which, in words."""


class KeyRefused(Answered):
    """401: the key is missing, revoked or malformed. Asking again is useless until an operator acts."""


class NotFound(Answered):
    """404: no such order, or another tenant's."""


class RateLimited(Answered):
    """429: the limiter refused the request before it was handled; `retry_after` says for how long, if it does."""

    @property
    def transient(self) -> bool:
        """True."""
        return True


class ServerError(Answered):
    """500. For a POST the order may exist; some refusals of the live service arrive as a 500 too."""

    @property
    def outcome_unknown(self) -> bool:
        """True."""
        return True

    @property
    def transient(self) -> bool:
        """True."""
        return True


class Unavailable(ServerError):
    """503: the service's database is away for the moment."""


class UnexpectedStatus(Answered):
    """A status that the document does not mention: a redirect (never followed), a gateway's 502 or 504, a 405."""

    @property
    def outcome_unknown(self) -> bool:
        """True but for the 4xx that can only be refusals; a 408 or a 409 may follow an order that was made."""
        refused = HTTPStatus.BAD_REQUEST <= self.status < HTTPStatus.INTERNAL_SERVER_ERROR
        return not refused or self.status in _MAY_FOLLOW_AN_ORDER

    @property
    def transient(self) -> bool:
        """True for 5xx and 408."""
        return self.status >= HTTPStatus.INTERNAL_SERVER_ERROR or self.status == HTTPStatus.REQUEST_TIMEOUT


class NeverReached(SettlementError):
    """No connection was made, so the service cannot have seen the request. The text names host and cause."""

    @property
    def outcome_unknown(self) -> bool:
        """False."""
        return False

    @property
    def transient(self) -> bool:
        """True."""
        return True


class NoAnswer(SettlementError):
    """The request was on its way, or may have been, and no whole HTTP answer came back."""

    @property
    def transient(self) -> bool:
        """True."""
        return True


class NotUnderstood(SettlementError):
    """An answer that is not what the document describes.

    Attributes:
        status: the HTTP status.
        reason: what is wrong, in our own words and field names only: safe to log.
        excerpt: the beginning of a page that is not JSON, its longer numbers hidden, at most 120 characters; empty for
            anything that could hold personal data. Not for logs.
    """

    def __init__(self, reason: str, *, status: int, excerpt: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.excerpt = excerpt

    @property
    def transient(self) -> bool:
        """True: such answers usually come from something in between that will be gone soon."""
        return True

    def __str__(self) -> str:
        return f"{type(self).__name__}: status {self.status}: {self.reason}"


class WaitTimeout(SettlementError):
    """The order was not terminal when the time was over; `last_state` is the last one seen, or None."""

    def __init__(self, last_state: str | None) -> None:
        super().__init__(f"last state {last_state}")
        self.last_state = last_state

    @property
    def outcome_unknown(self) -> bool:
        """False: nothing was posted."""
        return False

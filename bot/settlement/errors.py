"""How a call to the settlement service can fail. The type says whether a request for an order may have created one.

    SettlementFailure
    ├── NotCreated             no order came of it: the request was never sent, or the service rejected it (any 4xx)
    │   ├── NeverReached       nothing was sent: no name, no connection, no TLS, no free slot
    │   │   └── TooLate        its time was over before it could be sent
    │   ├── Refused            400: a field is missing, invalid or over a cap
    │   ├── KeyRefused         401: the key is missing, revoked or malformed. Only an operator can change that
    │   ├── OrderNotFound      404: there is no such order, or it belongs to another tenant
    │   └── SlowDown           429: too many requests, so the service didn't handle this one
    ├── OutcomeUnknown         the request may have arrived. Look for the order before you send another (4.5, 4.7)
    │   ├── NoAnswer           time-out, reset, closed before the whole answer
    │   ├── ServerError        any 5xx, or a 408. The live service also sends a 500 for some invalid requests
    │   └── NotUnderstood      the answer isn't what the document describes: HTML, cut JSON, wrong shape
    └── WaitEnded              `wait_for_order` ended before the order. Says nothing about the order
        ├── WaitTimeout        it ran out of time
        └── WaitAborted        its abort signal was set

After a read, both halves mean the same: it has no usable answer, and changed nothing. The document (section 7) has no
machine-readable codes, so the status decides. One that it doesn't mention is a plain `NotCreated` if it is a 4xx, and
a plain `OutcomeUnknown` if it is a redirect (never followed) or a 409, which can follow a created order.
"""

from http import HTTPStatus
from typing import ClassVar


class MethodVanished(Exception):
    """A destination of before is no longer in the live list. No call has failed."""


class SettlementFailure(Exception):
    """A failed call to the settlement service. Its text is safe to log.

    Attributes:
        status: the HTTP status, None without an answer.
        reason: the service's own text, for staff. It can repeat what it was sent (an account number, a name), so it is
            never logged.
        retry_after: seconds that the service asked us to wait, or None.
        is_transient: whether the same read may succeed later. A POST is never repeated.
    """

    is_transient: ClassVar[bool] = False

    def __init__(
        self, text: str = "", *, status: int | None = None, reason: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(text)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after

    def __str__(self) -> str:
        status = "" if self.status is None else f"status {self.status}"
        return ": ".join(part for part in (type(self).__name__, status, *map(str, self.args)) if part)


class NotCreated(SettlementFailure):
    """No order came of this request."""


class NeverReached(NotCreated):
    """Nothing was sent, so the service can't have received the request. The text names the cause."""

    is_transient = True


class TooLate(NeverReached):
    """The time in which the request could be sent was over before its first byte."""


class Refused(NotCreated):
    """The service refused the order (400). `reason` says why, in words."""


class KeyRefused(NotCreated):
    """The service rejected our API key (401), as it will for every call."""


class OrderNotFound(NotCreated):
    """The service doesn't have this order (404)."""


class SlowDown(NotCreated):
    """The service asked us to call less often (429)."""

    is_transient = True


class OutcomeUnknown(SettlementFailure):
    """The request may have arrived. If it was for an order, only the list of orders shows whether there is one."""


class NoAnswer(OutcomeUnknown):
    """The request was sent, or may have been, and no complete HTTP answer arrived."""

    is_transient = True


class ServerError(OutcomeUnknown):
    """The service or a gateway failed (5xx), or lost patience (408)."""

    is_transient = True


class NotUnderstood(OutcomeUnknown):
    """The answer can't be used. The text says why, in our own words and field names. It usually comes from a proxy."""

    is_transient = True


class WaitEnded(SettlementFailure):
    """The wait for an order ended before the order did. `last_state` is the last state read, or None."""

    def __init__(self, last_state: str | None) -> None:
        super().__init__(f"last state {last_state}")
        self.last_state = last_state


class WaitTimeout(WaitEnded):
    """The order wasn't terminal in time."""


class WaitAborted(WaitEnded):
    """The abort signal was set before the order was terminal."""


_OF_STATUS = {
    HTTPStatus.BAD_REQUEST: Refused,
    HTTPStatus.UNAUTHORIZED: KeyRefused,
    HTTPStatus.NOT_FOUND: OrderNotFound,
    HTTPStatus.REQUEST_TIMEOUT: ServerError,
    HTTPStatus.CONFLICT: OutcomeUnknown,
    HTTPStatus.TOO_MANY_REQUESTS: SlowDown,
}


def failure_of_status(status: int) -> type[SettlementFailure]:
    """Return the failure that a status other than 2xx is (settlement API, 7)."""
    if status in _OF_STATUS:
        return _OF_STATUS[HTTPStatus(status)]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ServerError
    return NotCreated if status >= HTTPStatus.BAD_REQUEST else OutcomeUnknown

"""Payment requests: what a user asks for, and whether its link can be paid."""

import secrets
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from bot.settlement.model import PayoutMethod

MAX_NOTE_LENGTH: Final = 140
"""Characters."""

PAID: Final = "paid_"
"""The beginning of the reason of a payer who has paid."""


class RequestStatus(StrEnum):
    """What was done to a request. A closed one stays closed."""

    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


class ClosedBy(StrEnum):
    """Why a request was closed."""

    ASKER = "asker"
    PAYMENT = "payment"
    """It could be paid once, and was."""

    OPERATOR = "operator"
    DELETION = "deletion"
    """The asker has asked for the deletion of their data. It waits for orders that were paid."""


class RequestState(StrEnum):
    """What a request's link says at a moment."""

    OPEN = "open"
    PAUSED = "paused"
    ENDED = "ended"
    """Its time is over. The asker can set another end."""

    PAID = "paid"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentRequest:
    """A request for rupiah. Whoever has its link can pay it.

    Attributes:
        id: random, and the origin of the orders that pay it. Payers don't see it.
        user_id: the asker.
        token: what the link carries. The table has a hash of it for searches.
        holder: the name that payers see, in the asker's own words.
        idr: the sum in rupiah. None: the payer decides.
        is_reusable: whether it stays open after a payment.
        ends_at: from when its link can't be paid. None: no end.
        used_at: when it was made, changed or paid last. What isn't used for long is deleted.
        draft_id: the draft that it was made of. A draft becomes one request.
    """

    id: str
    user_id: int
    token: str = field(repr=False)
    method: PayoutMethod
    number: str = field(repr=False)
    holder: str = field(repr=False)
    idr: int | None = None
    note: str | None = field(default=None, repr=False)
    is_reusable: bool = False
    ends_at: datetime | None = None
    status: RequestStatus = RequestStatus.OPEN
    closed_by: ClosedBy | None = None
    draft_id: str
    created_at: datetime
    used_at: datetime

    def state_at(self, now: datetime) -> RequestState:
        """Return what its link says at this time."""
        if self.status is RequestStatus.CLOSED:
            return RequestState.PAID if self.closed_by is ClosedBy.PAYMENT else RequestState.CLOSED
        if self.ends_at is not None and self.ends_at <= now:
            return RequestState.ENDED
        return RequestState.PAUSED if self.status is RequestStatus.PAUSED else RequestState.OPEN

    def is_payable(self, now: datetime) -> bool:
        """Return whether its link can be paid at this time."""
        return self.state_at(now) is RequestState.OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A payer's report of a request to the operators."""

    request_id: str
    user_id: int
    """Who reported it."""

    at: datetime
    reason: str
    """What the payer chose. It begins with `PAID` if the payer had paid the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRequest:
    """A request with its reports, for operators."""

    request: PaymentRequest
    reports: int
    last_at: datetime


def new_id() -> str:
    """Return a random id, such as that of a new request."""
    return secrets.token_hex(8)

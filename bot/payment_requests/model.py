"""Payment requests: what a user asks for, and whether its link can be paid.

A link is `https://t.me/<bot>?start=r_<token>`, with a token of 96 random bits.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from bot.settlement.model import PayoutMethod
from bot.users.model import User

LINK: Final = "r_"
"""The beginning of the word after `?start=`. The token follows."""

_TOKEN_BYTES: Final = 12
_FORM: Final = "[A-Za-z0-9_-]{16}"
_WORD: Final = re.compile(rf"{LINK}({_FORM})")
TOKEN: Final = re.compile(_FORM)
"""The form of the tokens. Nothing else is looked up."""


def new_token() -> str:
    """Return a new token: 16 characters that Telegram accepts in links."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def hash_token(token: str) -> str:
    """Return the hash by which a token is found. Nobody can guess a token from it."""
    return hashlib.sha256(token.encode()).hexdigest()


def read_token(word: str) -> str | None:
    """Return the token in the word after `/start`, or None if it can't be one."""
    found = _WORD.fullmatch(word)
    return None if found is None else found[1]


def make_link(bot: str, token: str) -> str:
    """Return the link. `bot` is the bot's username without the @."""
    return f"https://t.me/{bot}?start={LINK}{token}"


PAGE_PATH: Final = "/r/"


def make_page_link(public_url: str, token: str) -> str:
    """Return the address at which a request can be paid in a browser."""
    return f"{public_url}{PAGE_PATH}{token}"


MAX_NOTE_LENGTH: Final = 140
"""Characters."""

MAX_SHARED: Final = 20
"""How many messages that share one request follow it: the newest ones."""

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
        idr: the amount in rupiah. None: the payer decides.
        is_reusable: whether it stays open after a payment.
        ends_at: from when its link can't be paid. None: no end.
        in_browsers: whether its asker has agreed that anyone who has its link can see and pay it in a browser.
        used_at: when it was made, changed or paid last. What isn't used for long is deleted.
        shared: Telegram's ids of the messages in which it was shared and that still follow it. None: it was never told
            of one.
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
    in_browsers: bool = False
    draft_id: str
    created_at: datetime
    used_at: datetime
    shared: tuple[str, ...] | None = field(default=None, repr=False)

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
class ReceivedPayment:
    """A payment of a user's link. Nothing is said of who paid.

    Attributes:
        request: what was paid. None if it wasn't read, or can't be.
        state: "sent", "in_progress" or "failed".
    """

    request: PaymentRequest | None
    idr: int
    paid_at: datetime
    state: str


DAILY: Final = {"payment_requests": "daily"}
"""What the preferences of a user say who gets one summary a day in place of a message about each payment."""


def gets_summary(user: User) -> bool:
    """Return whether the user has chosen one summary a day."""
    return DAILY.items() <= (user.notification_preferences or {}).items()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A payer's report of a request to the operators."""

    request_id: str
    user_id: int
    """Who reported it. 0 if the payer has no chat."""

    payer_hash: str = ""
    """The hash of the secret of a payer without a chat."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentRequestRules:
    """The settings of payment requests.

    Attributes:
        is_on: whether users can ask and pay.
        max_open: how many open requests a user can have. 0 means no limit.
        max_per_day: how many requests a user can make within 24 hours, whatever becomes of them. 0 means no limit.
        public_url: the address of the pages in browsers. Empty if there are none.
        operator_name: who runs the bot. Nobody can ask in this name.
        operator_ids: the operators, who hear of reports.
    """

    is_on: bool = True
    max_open: int = 20
    max_per_day: int = 50
    public_url: str = ""
    operator_name: str = ""
    operator_ids: frozenset[int] = frozenset()

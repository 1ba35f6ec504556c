"""A draft of an order: what is known, and what to ask next."""

import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.money import Amount
from bot.payments.tokens import LIGHTNING
from bot.settlement.model import PayoutMethod, Quote

IDLE_LIMIT = timedelta(minutes=30)
"""A draft that nobody touched for this long is put away; the user is told and may take it up again."""


class Step(StrEnum):
    """What a draft waits for; the conversation's states bear these names, and so do the screens."""

    DESTINATION = "destination"
    NUMBER = "number"
    HOLDER = "holder"
    AMOUNT = "amount"
    CHANNEL = "channel"
    REVIEW = "review"


class DraftStatus(StrEnum):
    """Whether a draft still takes answers."""

    OPEN = "open"
    PLACED = "placed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDraft:
    """What one chat has told us of the order it wants; one open draft a chat at the most."""

    id: str
    chat_id: int
    user_id: int
    step: Step
    status: DraftStatus = DraftStatus.OPEN
    revision: int = 0
    method: PayoutMethod | None = None
    number: str | None = None
    doubtful_number: str | None = None
    holder: str | None = None
    holder_asked: bool = False
    amount: Amount | None = None
    channel: str = LIGHTNING
    quote: Quote | None = None
    message_id: int | None = None
    last_update_id: int = 0
    expires_at: datetime

    @property
    def has_answers(self) -> bool:
        """Return whether there is anything in the draft that the user would have to say again."""
        return self.method is not None or self.amount is not None

    def asks_the_same_as(self, other: "OrderDraft") -> bool:
        """Return whether two drafts ask the same question after the same answers, whatever quotes they showed."""
        return _answers(self) == _answers(other)


def _answers(draft: OrderDraft) -> tuple[object, ...]:
    return draft.step, draft.method and draft.method.key(), draft.number, draft.holder, draft.amount


def new_draft(*, chat_id: int, user_id: int, now: datetime) -> OrderDraft:
    """An empty draft, which asks for the destination first."""
    return OrderDraft(
        id=secrets.token_hex(5),
        chat_id=chat_id,
        user_id=user_id,
        step=Step.DESTINATION,
        expires_at=now + IDLE_LIMIT,
    )


def with_method(draft: OrderDraft, method: PayoutMethod) -> OrderDraft:
    """The draft with another destination. A number belongs to its destination, so it's asked anew."""
    if method == draft.method:
        return draft
    return replace(draft, method=method, number=None, doubtful_number=None)


def with_number(draft: OrderDraft, number: str) -> OrderDraft:
    """The draft with a number; another number has another holder, who is asked for again."""
    if number == draft.number:
        return replace(draft, doubtful_number=None)
    return replace(draft, number=number, doubtful_number=None, holder=None, holder_asked=False)


def without_method(draft: OrderDraft) -> OrderDraft:
    """The draft after its destination has vanished from the live list; number and holder belonged there."""
    return replace(
        draft,
        method=None,
        number=None,
        doubtful_number=None,
        holder=None,
        holder_asked=False,
        step=Step.DESTINATION,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredDraft:
    """An open draft past its time: what is needed to put it away in its chat's own queue."""

    id: str
    chat_id: int

"""A draft of an order or of a payment request: what is known, and what to ask next."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.core.errors import Rejection, Remark
from bot.core.money import Amount
from bot.orders.order import Order
from bot.payments.tokens import LIGHTNING
from bot.settlement.model import OrderRequest, PayoutMethod, Quote

HANDLED_BY_DRAFT: Final = "draft"
"""What the inbox says of an update that a draft took (`InboxItem.handled_by`)."""

IDLE_LIMIT = timedelta(minutes=30)
"""An unchanged draft expires after this time. The user is notified and can resume it."""


class Step(StrEnum):
    """The question that a draft waits for. The states of the conversation and the screens have the same names."""

    DESTINATION = "destination"
    NUMBER = "number"
    HOLDER = "holder"
    AMOUNT = "amount"
    NOTE = "note"
    USES = "uses"
    END = "end"
    REVIEW = "review"


class DraftStatus(StrEnum):
    """Whether a draft still takes answers."""

    OPEN = "open"
    PLACED = "placed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why the bot refused an answer last, or asked back. Support reads it, so it has nothing that the user typed.

    Attributes:
        step: the question that was open.
        key: the key of the text that the user read.
        at: when.
        arguments: what fills the text: numbers and times. Others are None, because they can repeat what was typed.
        is_doubt: whether the bot asked if the answer is meant so.
    """

    step: Step
    key: str
    at: datetime
    arguments: Mapping[str, int | datetime | None] = field(default_factory=dict)
    is_doubt: bool = False


def refuse(step: Step, why: Rejection | Remark, now: datetime) -> Refusal:
    """Return what is kept of a rejection, or of a doubt."""
    given = why.arguments.items()
    kept = {name: value if isinstance(value, int | datetime) else None for name, value in given}
    return Refusal(step=step, key=why.key, at=now, arguments=kept, is_doubt=isinstance(why, Remark))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTerms:
    """What a payment request says besides its recipient and its amount.

    Attributes:
        payer_decides: whether it names no amount.
        note: what payers read. None if there is none.
        is_reusable: whether it stays open after a payment. None until it is asked.
        ends_at: from when it can't be paid. None: no end.
    """

    payer_decides: bool = False
    note: str | None = field(default=None, repr=False)
    note_asked: bool = False
    is_reusable: bool | None = None
    ends_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDraft:
    """The answers that a user has given so far. A chat has up to one open draft.

    A draft with `terms` becomes a payment request, to the user's own account. Any other draft becomes an order.
    """

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
    """While it is open: the message that says that the service can't be reached. Then: the confirmed review."""

    last_update_id: int = 0
    expires_at: datetime
    refusal: Refusal | None = None
    terms: RequestTerms | None = None

    @property
    def changed_at(self) -> datetime:
        """When it was begun, answered or resumed last."""
        return self.expires_at - IDLE_LIMIT

    @property
    def has_answers(self) -> bool:
        """Whether the draft has answers that would be lost with it."""
        return self.method is not None or self.amount is not None

    @property
    def request(self) -> OrderRequest | None:
        """What the service is asked for. None while an answer is missing."""
        if self.method is None or self.number is None or self.amount is None:
            return None
        return OrderRequest(
            method=self.method, number=self.number, holder=self.holder, amount=self.amount, channel=self.channel
        )

    def asks_the_same_as(self, other: "OrderDraft") -> bool:
        """Return whether two drafts ask the same question after the same answers, even with different quotes."""
        return _answers(self) == _answers(other)


def _answers(draft: OrderDraft) -> tuple[object, ...]:
    return draft.step, draft.method and draft.method.key(), draft.number, draft.holder, draft.amount, draft.terms


def new_draft(*, chat_id: int, user_id: int, now: datetime) -> OrderDraft:
    """Return an empty draft, which asks for the destination first."""
    return OrderDraft(
        id=secrets.token_hex(5),
        chat_id=chat_id,
        user_id=user_id,
        step=Step.DESTINATION,
        expires_at=now + IDLE_LIMIT,
    )


def repeat_order(order: Order, method: PayoutMethod | None, now: datetime) -> OrderDraft:
    """Return a draft for the same payment as `order`.

    `method` is its destination in today's list, or None if the list no longer has it. The draft is at its review, or
    asks for another destination.

    Raises:
        ValueError: its payer may not see the recipient, or has no chat.
    """
    payer = order.payer
    if payer.user_id is None or payer.chat_id is None or order.hides_recipient:
        raise ValueError("this order can't be repeated as a draft")
    repeated = replace(
        new_draft(chat_id=payer.chat_id, user_id=payer.user_id, now=now),
        step=Step.REVIEW,
        method=method,
        number=order.number,
        holder=order.holder,
        holder_asked=True,
        amount=order.amount,
        channel=order.channel,
    )
    return repeated if method is not None else without_method(repeated)


def with_method(draft: OrderDraft, method: PayoutMethod) -> OrderDraft:
    """Return the draft with another destination. A number belongs to its destination, so it is asked again."""
    if method == draft.method:
        return draft
    return replace(draft, method=method, number=None, doubtful_number=None)


def with_number(draft: OrderDraft, number: str) -> OrderDraft:
    """Return the draft with a number. Another number has another holder, so the holder is asked again."""
    if number == draft.number:
        return replace(draft, doubtful_number=None)
    return replace(draft, number=number, doubtful_number=None, holder=None, holder_asked=False)


def without_method(draft: OrderDraft) -> OrderDraft:
    """Return the draft without its destination, number and holder. The live list no longer has the destination."""
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
class DraftOfChat:
    """An open draft with something to do: what its chat's queue needs to do it."""

    id: str
    chat_id: int

"""An order, and the rules by which it changes. All functions are pure."""

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from bot.core.money import Amount
from bot.orders.evidence import HIDDEN, PAYOUT_REFERENCE, Evidence, add_evidence, last_value
from bot.orders.notifications import OrderNotification
from bot.payments.tokens import LIGHTNING
from bot.rates.model import Estimate
from bot.recipients.numbers import mask_number
from bot.settlement.model import (
    COMPLETED,
    FAILED,
    TERMINAL_STATES,
    Deposit,
    OrderReport,
    OrderRequest,
    OrderStep,
    PayoutMethod,
    step_after,
)
from bot.staff.outcomes import Outcome


class OrderProblem(StrEnum):
    """Why an order needs the staff: it was paid, or may have been, and the rupiah weren't sent."""

    OVERDUE = "overdue"
    FAILED = "failed"


REFERENCE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
REFERENCE_LENGTH = 7


class Phase(StrEnum):
    """Whether the service has created the order, as far as we know, and whether its invoice may be shown."""

    INTENDED = "intended"  # saved before the POST; the POST may be in progress until `posting_until`
    UNKNOWN = "unknown"  # the POST's result is unknown; `LostOrders` looks for it
    UNRESOLVED = "unresolved"  # not found in time: the user decides
    REFUSED = "refused"  # certainly not created
    NEEDS_CONFIRMATION = "needs_confirmation"  # created; the user is asked before it is shown: see `HoldReason`
    ABANDONED = "abandoned"  # created or not, its invoice is never shown
    OPEN = "open"  # created, and shown to the user
    DONE = "done"  # ended, or no longer polled


UNCERTAIN_PHASES = frozenset({Phase.INTENDED, Phase.UNKNOWN, Phase.UNRESOLVED})
"""The service may have created the order, and we haven't found it yet."""

NOT_ENDED = (*sorted(UNCERTAIN_PHASES), Phase.NEEDS_CONFIRMATION, Phase.OPEN)
"""The phases in which the status of an order can change at any moment, and in which it may still be paid."""

ENDED_PHASES = (Phase.REFUSED, Phase.ABANDONED, Phase.DONE)

SHOWN_BELOW = frozenset({Phase.NEEDS_CONFIRMATION, Phase.OPEN, Phase.DONE})
"""The phases that a message below the review shows: a question, an invoice, or what follows its payment."""


class Failure(StrEnum):
    """What we know about the payment of a failed order."""

    PAID = "paid"  # it arrived
    UNKNOWN = "unknown"  # a deposit may have arrived between two polls; the service records no time for it
    UNPAID = "unpaid"  # the service records the time of a Lightning payment, and there is none


class OrderStatus(StrEnum):
    """The status of an order, as its user sees it: in messages, on the payment page and in the list."""

    PLACING = "placing"  # the service is being asked, as far as we know
    CHECKING = "checking"  # we don't know yet whether the service has created it
    UNRESOLVED = "unresolved"  # we couldn't find out, so the user decides
    NEEDS_CONFIRMATION = "needs_confirmation"  # created; the user is asked before it can be paid
    OFFER_OVER = "offer_over"  # created, but it is too late for the user to accept
    REFUSED = "refused"  # not created
    CLOSED = "closed"  # its invoice is never shown
    WAITING = "waiting"  # waiting for the payment
    EXPIRED = "expired"  # not paid in time, as far as we know
    GIVEN_UP = "given_up"  # no payment came for so long that we no longer poll the service
    PAID = "paid"
    CONVERTING = "converting"
    SENDING = "sending"
    SENT = "sent"
    FAILED_PAID = "failed_paid"
    FAILED_UNKNOWN = "failed_unknown"
    FAILED_UNPAID = "failed_unpaid"


OFFER_VALID_FOR = timedelta(days=1)
"""How long a question about an order stays open. It needs a limit, because an EVM deposit has no expiry."""


LAST_MINUTES = timedelta(minutes=5)
"""With less time left to pay an invoice, the price of now is offered in its place."""


class HoldReason(StrEnum):
    """Why the sender is asked before an order's invoice is shown."""

    PRICE_CHANGED = "price_changed"  # the locked price differs from the reviewed one
    RECIPIENT_MASKED = "recipient_masked"  # found again, but the service shows only part of the recipient's number


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """Who pays an order: a user in their chat, or who knows a page's secret. After a deletion it is nobody.

    A user who asked for the money with a link isn't the payer. They only learn the outcome.

    Attributes:
        user_id: the user.
        chat_id: where the payer is notified. A payer without a chat looks at their page.
        secret_hash: the hash of the page's secret. Only it is stored, so that no reader of the database can be the
            payer.
    """

    user_id: int | None = None
    chat_id: int | None = None
    secret_hash: str | None = field(default=None, repr=False)

    @property
    def has_chat(self) -> bool:
        """Whether the payer is a user whom a message can reach."""
        return self.chat_id is not None


def payer_in_chat(user_id: int, chat_id: int | None = None) -> Payer:
    """Return a user as a payer. Their private chat has the same id, unless another one is given."""
    return Payer(user_id=user_id, chat_id=user_id if chat_id is None else chat_id)


def payer_on_page(secret: str) -> Payer:
    """Return the payer who knows the secret of a page. The secret has at least 128 random bits."""
    return Payer(secret_hash=hashlib.sha256(secret.encode()).hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order of one payer. Times are aware UTC. Amounts are whole units.

    `expires_at` is until when its invoice is shown. The invoice itself can end later, at `invoice_expires_at`.
    `origin` is the id of the link that the order was made from, as the feature that made the link knows it. None: its
    payer typed the recipient.
    """

    reference: str
    payer: Payer
    draft_id: str
    attempt: int
    method: PayoutMethod
    number: str
    holder: str | None
    requested_amount: Amount
    channel: str
    expected_sats: int
    expected_idr: int
    phase: Phase
    created_at: datetime
    version: int = 0
    service_id: str | None = None
    state: str = ""
    step: OrderStep = OrderStep.CREATED
    sats: int | None = None
    idr: int | None = None
    btc_idr: Decimal | None = None
    bolt11: str | None = None
    deposit: Deposit | None = None
    payment_hash: str | None = None
    expires_at: datetime | None = None
    invoice_expires_at: datetime | None = None
    paid_at: datetime | None = None
    ended_at: datetime | None = None
    expiry_notified: bool = False
    refusal: str | None = None
    last_polled_at: datetime | None = None
    next_poll_at: datetime | None = None
    page_token: str | None = None
    overdue_notified_at: datetime | None = None
    hold_reason: HoldReason | None = None
    payable_since: datetime | None = None  # since when its invoice or address may be shown
    posting_until: datetime | None = None  # until then, the request that creates it can be in progress
    typed_amount: Amount | None = None  # what its user asked for, if the service is asked for something else
    evidence: tuple[Evidence, ...] = ()
    origin: str | None = None
    contact: str | None = field(default=None, repr=False)  # how a payer without a chat can be reached
    answer: str | None = field(default=None, repr=False)  # what support has answered such a payer
    outcome: Outcome | None = None  # where its money is, as staff say, if the rupiah weren't sent

    @property
    def user_id(self) -> int:
        """The user who pays it, for support and the audit log: 0 if there is none."""
        return self.payer.user_id or 0

    @property
    def hides_recipient(self) -> bool:
        """Whether its payer may see only the last digits of the number: somebody else has asked for the money."""
        return self.origin is not None

    @property
    def can_be_repeated(self) -> bool:
        """Whether its payer can ask for the same again: with the recipient, or by the link that it was made from."""
        return self.has_recipient or self.hides_recipient

    @property
    def payer_number(self) -> str:
        """The number as its payer may see it. Staff see it whole only in a reveal."""
        return mask_number(self.number) if self.hides_recipient and self.number else self.number

    @property
    def payer_evidence(self) -> tuple[Evidence, ...]:
        """The evidence that its payer may see."""
        return tuple(each for each in self.evidence if each.name not in HIDDEN[self.hides_recipient])

    @property
    def payer_refusal(self) -> str | None:
        """The service's reason for a refusal, as its payer may read it: it can quote the number."""
        return None if self.hides_recipient else self.refusal

    @property
    def amount(self) -> Amount:
        """What its user asked for. A deposit is ordered in sats, and its sum can be a bit larger (`deposits.py`)."""
        return self.typed_amount or self.requested_amount

    @property
    def brings_less_than_asked(self) -> bool:
        """Whether the recipient would get less rupiah than its user asked for."""
        return self.amount.currency == "IDR" and self.idr is not None and self.idr < self.amount.value

    @property
    def request(self) -> OrderRequest:
        """What the service is asked for."""
        return OrderRequest(
            method=self.method,
            number=self.number,
            holder=self.holder,
            amount=self.requested_amount,
            channel=self.channel,
        )

    @property
    def payout_reference(self) -> str | None:
        """The payout partner's id of the payout. None until the payout is requested."""
        value = last_value(self.evidence, PAYOUT_REFERENCE)
        return None if value is None else str(value)

    @property
    def sent_after(self) -> timedelta | None:
        """How long after the payment the rupiah were sent, by the service's clock. None if it didn't name both."""
        paid, sent = (last_value(self.evidence, name) for name in ("invoice_paid_at", "completed_at"))
        return sent - paid if isinstance(paid, datetime) and isinstance(sent, datetime) and sent >= paid else None

    @property
    def has_recipient(self) -> bool:
        """Whether its recipient is still stored. Old orders and those of deleted users are kept without it."""
        return bool(self.number)

    @property
    def is_ended(self) -> bool:
        """Whether the service has completed or failed it."""
        return self.state in TERMINAL_STATES

    @property
    def is_paid(self) -> bool:
        """Whether we know that the payment arrived."""
        return self.step >= OrderStep.PAID or self.paid_at is not None

    @property
    def failure(self) -> Failure | None:
        """What we know about the payment of a failed order. None if the order hasn't failed."""
        if self.state != FAILED:
            return None
        if self.is_paid:
            return Failure.PAID
        # The channel is checked, because `deposit` is deleted with the user's data.
        return Failure.UNPAID if self.channel == LIGHTNING else Failure.UNKNOWN

    @property
    def has_failed(self) -> bool:
        """Whether it failed, except unpaid after its expiry: users see that as an expiry."""
        return self.failure is not None and not (self.failure is Failure.UNPAID and self.expiry_notified)

    @property
    def is_given_up(self) -> bool:
        """Whether we no longer poll it although it hasn't ended, because no payment came for too long."""
        return self.phase is Phase.DONE and not self.is_ended

    @property
    def is_closed_unpaid(self) -> bool:
        """Whether it failed, or is no longer polled, without a payment that we know of. One can still arrive."""
        return self.phase is Phase.DONE and not self.is_paid

    @property
    def is_overdue(self) -> bool:
        """Whether its user was notified that it takes too long, and it hasn't ended yet."""
        return self.overdue_notified_at is not None and not self.is_ended

    @property
    def is_in_trouble(self) -> bool:
        """Whether it was paid, or may have been, and the rupiah weren't sent, or not in time."""
        return self.is_overdue or self.failure in {Failure.PAID, Failure.UNKNOWN}

    @property
    def has_money_at_risk(self) -> bool:
        """Whether it was paid, or may have been, the rupiah aren't sent, and nobody has recorded how it ended."""
        is_open = (self.is_paid and self.state != COMPLETED) or self.failure is Failure.UNKNOWN
        return is_open and self.outcome is None

    def is_same_request_as(self, other: "Order") -> bool:
        """Return whether both orders are one request of one payer: the same sum to the same recipient in the same way.

        The holder's name isn't compared, because the number alone decides where the money goes. Two links can ask for
        the same sum to the same account, such as the rent of two months. They are two requests.
        """
        same = (self.payer, self.origin) == (other.payer, other.origin)
        return same and (self.method.pair, self.number, self.amount, self.channel) == (
            other.method.pair,
            other.number,
            other.amount,
            other.channel,
        )

    def is_expired(self, now: datetime) -> bool:
        """Return whether it is too late to pay it, by our own clock."""
        return self.expires_at is not None and now >= self.expires_at

    def is_ending(self, now: datetime) -> bool:
        """Return whether so little time is left that its invoice isn't shown to anyone who doesn't see it yet.

        That is `LAST_MINUTES`, or half of a shorter time. A deposit needs no hurry.
        """
        if self.expires_at is None or self.channel != LIGHTNING:
            return False
        return now > self.expires_at - min(LAST_MINUTES, (self.expires_at - self.created_at) / 2)

    def may_be_shown(self, now: datetime) -> bool:
        """Return whether its invoice may be shown to someone who doesn't see it yet. Then there is time to pay it."""
        return self.awaits_payment(now) and not self.is_ending(now)

    def awaits_payment(self, now: datetime) -> bool:
        """Return whether its invoice can be in sight."""
        is_over = self.is_paid or self.is_ended or self.expiry_notified or self.is_expired(now)
        return self.phase is Phase.OPEN and not is_over

    @property
    def offer_ends_at(self) -> datetime:
        """Until when an unpaid order counts as payable: while a wallet can pay it, and for up to a day."""
        after_a_day = self.created_at + OFFER_VALID_FOR
        return min(self.invoice_expires_at or self.expires_at or after_a_day, after_a_day)

    def is_offer_over(self, now: datetime) -> bool:
        """Return whether it is too late to answer the question about it."""
        return self.is_ending(now) or now >= self.offer_ends_at

    def status(self, now: datetime) -> OrderStatus:
        """Return the status of the order at this time."""
        match self.phase:
            case Phase.NEEDS_CONFIRMATION:
                return OrderStatus.OFFER_OVER if self.is_offer_over(now) else OrderStatus.NEEDS_CONFIRMATION
            case Phase.OPEN | Phase.DONE:
                return self._status_after_shown(now)
            case _:
                return STATUS_OF_PHASE[self.phase]

    def _status_after_shown(self, now: datetime) -> OrderStatus:
        if self.failure is not None and self.has_failed:
            return STATUS_OF_FAILURE[self.failure]
        if self.is_paid:
            return STATUS_OF_STEP[self.step]
        if self.is_ended or self.expiry_notified or self.is_expired(now):
            return OrderStatus.EXPIRED
        return OrderStatus.GIVEN_UP if self.is_given_up else OrderStatus.WAITING

    def may_be_sent_again(self, now: datetime) -> bool:
        """Return whether the user may send to the same recipient again.

        One request must never have two invoices. So the user has to wait while we look for the order, while the user
        has to answer a question, and while the order can be paid.
        """
        return self.can_be_repeated and not self.blocks_another(now)

    def blocks_another(self, now: datetime) -> bool:
        """Return whether the same can't be ordered again: this order can be paid, or may be shown for payment."""
        status = self.status(now)
        return status in OPEN_STATUSES and not (status is OrderStatus.WAITING and self.is_ending(now))

    @property
    def has_shown_price(self) -> bool:
        """Whether its user has seen a locked price.

        If the price wasn't as agreed, it wasn't shown, and neither invoice nor deposit was kept.
        """
        return self.sats is not None and self.idr is not None and bool(self.bolt11 or self.deposit)

    @property
    def last_price(self) -> tuple[int, int]:
        """The sats and rupiah that its user saw last: the locked amounts, or else those of the review."""
        if self.sats is None or self.idr is None or not self.has_shown_price:
            return self.expected_sats, self.expected_idr
        return self.sats, self.idr


STATUS_OF_PHASE = {
    Phase.INTENDED: OrderStatus.PLACING,
    Phase.UNKNOWN: OrderStatus.CHECKING,
    Phase.UNRESOLVED: OrderStatus.UNRESOLVED,
    Phase.REFUSED: OrderStatus.REFUSED,
    Phase.ABANDONED: OrderStatus.CLOSED,
}
"""The status of an order that isn't shown to its user for payment, by its phase."""

STATUS_OF_STEP = {
    OrderStep.CREATED: OrderStatus.PAID,
    OrderStep.PAID: OrderStatus.PAID,
    OrderStep.CONVERTING: OrderStatus.CONVERTING,
    OrderStep.SENDING: OrderStatus.SENDING,
    OrderStep.SENT: OrderStatus.SENT,
}
"""The status of a paid order, by its step."""

STATUS_OF_FAILURE = {
    Failure.PAID: OrderStatus.FAILED_PAID,
    Failure.UNKNOWN: OrderStatus.FAILED_UNKNOWN,
    Failure.UNPAID: OrderStatus.FAILED_UNPAID,
}
OPEN_STATUSES = frozenset(
    {
        OrderStatus.PLACING,
        OrderStatus.CHECKING,
        OrderStatus.UNRESOLVED,
        OrderStatus.NEEDS_CONFIRMATION,
        OrderStatus.WAITING,
    }
)
"""The statuses in which an order can still be paid, or may be shown for payment."""

IN_PROGRESS = OPEN_STATUSES | {OrderStatus.PAID, OrderStatus.CONVERTING, OrderStatus.SENDING}


def new_intent(
    wanted: OrderRequest,
    agreed: Estimate,
    *,
    payer: Payer,
    draft_id: str,
    now: datetime,
    origin: str | None = None,
) -> Order:
    """Return an order that the service isn't asked for yet. `agreed` is what its payer agreed to."""
    return Order(
        reference=new_reference(),
        payer=payer,
        draft_id=draft_id,
        attempt=1,
        method=wanted.method,
        number=wanted.number,
        holder=wanted.holder,
        requested_amount=wanted.amount,
        channel=wanted.channel,
        expected_sats=agreed.sats,
        expected_idr=agreed.idr,
        phase=Phase.INTENDED,
        created_at=now,
        page_token=new_page_token(),
        origin=origin,
    )


def make_payable(order: Order, now: datetime) -> Order:
    """Return the order as one that can be paid from now on."""
    return replace(order, phase=Phase.OPEN, hold_reason=None, payable_since=now)


def new_reference() -> str:
    """Return a random reference that is easy to read out over the telephone. Collisions are unlikely."""
    return "".join(secrets.choice(REFERENCE_ALPHABET) for _ in range(REFERENCE_LENGTH))


def new_page_token() -> str:
    """Return the secret token of a payment page's address: 192 random bits."""
    return secrets.token_urlsafe(24)


def advance(order: Order, report: OrderReport, now: datetime) -> tuple[Order, tuple[OrderNotification, ...]]:
    """Return the order after a report of the service, and the notifications about what changed.

    The service may skip or repeat states, and report outdated or unknown ones. An order that isn't open no longer
    changes, except by a late payment: then it is followed again, or has failed after its payment. Support can still ask
    for its evidence. If several steps passed since the last report, users are notified of the last one only.
    """
    # Evidence is deleted with the recipient, and none is added after that.
    evidence = add_evidence(order.evidence, report, now) if order.has_recipient else order.evidence
    order = replace(order, last_polled_at=now, evidence=evidence)
    if order.phase is not Phase.OPEN and not is_late_payment(order, report):
        return order, ()
    step = step_after(order.step, report.state)
    paid_at = order.paid_at or (now if _shows_payment(report, step) else None)
    ended_at = (report.completed_at or now) if report.state in TERMINAL_STATES else None
    after = replace(
        order,
        state=report.state,
        step=step,
        paid_at=paid_at,
        ended_at=ended_at,
        phase=Phase.DONE if ended_at else Phase.OPEN,
        expires_at=_read_expiry(order, report),
        outcome=None if ended_at else order.outcome,  # what staff said before the order ended no longer holds
    )
    return _with_notifications(order, after, now)


def expire(order: Order, asked_at: datetime) -> tuple[Order, tuple[OrderNotification, ...]]:
    """Return the order as expired if its invoice has expired by our own clock. Its user is notified once.

    `asked_at` is when the service was asked about the payment. It must be after the expiry.
    """
    if order.expiry_notified or order.is_paid or order.is_ended or not order.is_expired(asked_at):
        return order, ()
    return replace(order, expiry_notified=True), (
        OrderNotification.REMOVE_INVOICE,
        OrderNotification.EDIT_STATUS,
        OrderNotification.EXPIRED,
    )


def mark_overdue(order: Order, now: datetime, after: timedelta) -> tuple[Order, tuple[OrderNotification, ...]]:
    """Return the order as overdue if it was paid `after` ago and hasn't ended. Its user is notified once."""
    if order.phase is not Phase.OPEN or order.is_ended or order.overdue_notified_at is not None:
        return order, ()
    if order.paid_at is None or now < order.paid_at + after:
        return order, ()
    return replace(order, overdue_notified_at=now), (OrderNotification.EDIT_STATUS, OrderNotification.OVERDUE)


def _read_expiry(order: Order, report: OrderReport) -> datetime | None:
    """Return when the order expired. The service may close an unpaid invoice early, and then reports that time."""
    if report.state == FAILED and order.expires_at is not None and report.expires_at is not None:
        return min(order.expires_at, report.expires_at)
    return order.expires_at


def is_late_payment(order: Order, report: OrderReport) -> bool:
    """Return whether a report shows the payment of an order that was closed without one."""
    return order.is_closed_unpaid and _shows_payment(report, step_after(order.step, report.state))


def _shows_payment(report: OrderReport, step: OrderStep) -> bool:
    # A failed order may have been paid between two polls. Then only the payment's time shows it.
    return step >= OrderStep.PAID or (report.state == FAILED and report.paid_at is not None)


def _with_notifications(before: Order, after: Order, now: datetime) -> tuple[Order, tuple[OrderNotification, ...]]:
    first_payment = after.is_paid and not before.is_paid
    changes: list[OrderNotification] = []
    if first_payment or (after.is_ended and not before.is_paid):
        changes.append(OrderNotification.REMOVE_INVOICE)
    if after.step != before.step or after.is_ended or first_payment:
        changes.append(OrderNotification.EDIT_STATUS)
    if after.state == FAILED:
        return _with_failure(before, after, now, changes)
    messages: list[OrderNotification] = []
    if after.state == COMPLETED:
        messages = [OrderNotification.SENT]
    elif first_payment:
        messages = [OrderNotification.PAID_LATE if before.expiry_notified else OrderNotification.PAID]
    # The first news of a payment comes before the QR code disappears. Otherwise an edit waits for no message.
    return after, (*messages, *changes) if first_payment else (*changes, *messages)


def _with_failure(
    before: Order, after: Order, now: datetime, changes: list[OrderNotification]
) -> tuple[Order, tuple[OrderNotification, ...]]:
    # The service fails orders whose invoices expired unpaid. Users see that as an expiry, and are notified once.
    # A failed deposit isn't an expiry, because we don't know whether it was paid.
    has_expired = after.failure is Failure.UNPAID and (before.expiry_notified or after.is_expired(now + CLOCK_SLACK))
    if not has_expired:
        return after, (*changes, OrderNotification.FAILED)
    if before.expiry_notified:
        return after, tuple(changes)
    return replace(after, expiry_notified=True), (*changes, OrderNotification.EXPIRED)


_STILL_APPLIES: Mapping[OrderNotification, Callable[[Order], bool]] = {
    OrderNotification.CHECKING: lambda order: order.phase in {Phase.INTENDED, Phase.UNKNOWN},
    OrderNotification.UNRESOLVED: lambda order: order.phase is Phase.UNRESOLVED,
    OrderNotification.PRICE_MOVED: lambda order: order.phase is Phase.NEEDS_CONFIRMATION,
    OrderNotification.RECIPIENT_MASKED: lambda order: order.phase is Phase.NEEDS_CONFIRMATION,
    OrderNotification.EDIT_REVIEW: lambda order: order.phase in SHOWN_BELOW,
    OrderNotification.EXPIRED: lambda order: not order.is_paid,
    OrderNotification.WITHDRAWN: lambda order: not order.is_paid,
    OrderNotification.OVERDUE: lambda order: not order.is_ended,
    OrderNotification.CONVERTING: lambda order: order.step is OrderStep.CONVERTING and not order.is_ended,
    OrderNotification.SENDING: lambda order: order.step is OrderStep.SENDING and not order.is_ended,
}


def still_applies(kind: OrderNotification, order: Order) -> bool:
    """Return whether a notification still applies to the order. If the order has moved on, it isn't sent."""
    return kind not in _STILL_APPLIES or _STILL_APPLIES[kind](order)


CLOCK_SLACK = timedelta(minutes=2)
"""How far the service's clock may be ahead of ours when it fails an order because its invoice has expired."""


class EventNote(StrEnum):
    """A remark about an event, in addition to its phase and state."""

    INTENDED = "intended"
    PRICE_ACCEPTED = "price accepted"
    DROPPED = "dropped by the user"
    TRIED_AGAIN = "tried again as a new order"
    OFFER_OVER = "the offer is over"
    OUTSIDE_LIMITS = "locked outside the limits"
    SUPERSEDED = "the sender had ordered the same again"
    LINK_DELETED = "its link was deleted"
    LINK_OVER = "its link could no longer be paid"
    WITHDRAWN = "operators have closed its link"
    DEPOSIT_TAKEN = "another open deposit looks the same"
    EXPIRED = "expired"
    OVERDUE = "told that it takes too long"
    PAYMENT = "the payment's own time"  # recorded if we didn't see the state that the payment led to
    INVOICE_REPLACED = "the service names another invoice"  # it is never shown


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEvent:
    """An entry of an order's timeline, for its user and for support. `note` is an `EventNote` or "".

    `at` is our own time. `service_at` is the service's time of the state, if it gives one.
    """

    reference: str
    at: datetime
    phase: Phase
    state: str
    note: str = ""
    service_at: datetime | None = None

"""The kinds of notification about an order, and their payloads."""

from dataclasses import dataclass
from typing import Final

from bot.infra.outbox.model import NotificationKind

ORDER_SUBJECT: Final = "order:"
"""What the subjects of all notifications about orders begin with. The order's reference follows."""


@dataclass(frozen=True, slots=True)
class AboutOrder:
    """The order, by its reference. A message shows it as it is when the message is sent, so that none is stale."""

    reference: str


@dataclass(frozen=True, slots=True)
class AboutProblem(AboutOrder):
    """An order with which something is wrong. `complaint` says what, if the order itself doesn't show it."""

    complaint: str = ""


class OrderNotification(NotificationKind):
    """Notifications for the user of an order. `CARD_EDIT` edits the status message, most others are messages."""

    CHECKING = "checking", AboutOrder  # outcome unknown: we are looking for it
    UNRESOLVED = "unresolved", AboutOrder
    REFUSED = "refused", AboutOrder
    PRICE_MOVED = "price_moved", AboutOrder
    RECIPIENT_MASKED = "recipient_masked", AboutOrder  # found by a masked number: is it the sender's?
    NOT_SHOWN = "not_shown", AboutOrder  # the invoice wasn't what was agreed
    OUTSIDE_LIMITS = "outside_limits", AboutOrder  # the locked rupiah are below the minimum or above the cap
    SUPERSEDED = "superseded", AboutOrder  # found after its sender had ordered the same again: only that one is shown
    DEPOSIT_TAKEN = "deposit_taken", AboutOrder  # another open deposit of the same sum goes to the same address
    INVOICE = "invoice", AboutOrder  # the QR and the text to pay with
    INVOICE_TEXT = "invoice_text", AboutOrder  # the text of an invoice that is too long to stand under its picture
    CARD = "card", AboutOrder  # the status message is first sent
    CARD_EDIT = "card_edit", AboutOrder
    TAKE_DOWN = "take_down", AboutOrder  # the QR must go: nothing more can be paid with it
    TAKE_DOWN_PICTURE = "take_down_picture", AboutOrder  # of an invoice too old to be deleted; its text has gone
    PAID = "paid", AboutOrder
    PAID_LATE = "paid_late", AboutOrder
    CONVERTING = "converting", AboutOrder  # these two only if the user asked for each step (orders/preferences.py)
    SENDING = "sending", AboutOrder
    SENT = "sent", AboutOrder
    RECEIPT = "receipt", AboutOrder  # the picture to forward, right after the message that the rupiah were sent
    FAILED = "failed", AboutOrder
    EXPIRED = "expired", AboutOrder
    STUCK = "stuck", AboutOrder  # paid, and not done after so long that the user is told


class OrderWarning(NotificationKind):
    """Notifications for operators about an order. Users' own messages about it are `OrderNotification`."""

    BAD_INVOICE = "staff_bad_invoice", AboutProblem
    STUCK = "staff_stuck", AboutProblem
    FAILED = "staff_failed", AboutProblem  # it failed after the payment had come in

"""The kinds of notification about an order, their payloads, and which of them a user must not miss.

The rules of `order.py` name them. `messages.py` queues and sends them.
"""

from dataclasses import dataclass
from typing import Final

from bot.infra.outbox.model import NotificationKind, Queue

ORDER_SUBJECT: Final = "order:"
"""The prefix of the subjects of all notifications about orders. The order's reference follows it."""


@dataclass(frozen=True, slots=True)
class AboutOrder:
    """The order, by its reference. A message shows the order as it is when the message is sent."""

    reference: str


class OrderNotification(NotificationKind):
    """Notifications for the user of an order. Most are messages.

    The message to pay with (`INVOICE`) shows the status until the payment. From then on, the message that the payment
    arrived does (`PAID`, `PAID_LATE`). `SENT` is the receipt. No message about money waits for edits.
    """

    REVIEW = "review", AboutOrder  # the confirmed review: saved as sent, because its outcome is shown in it
    CHECKING = "checking", AboutOrder  # the result is unknown, and we look for the order
    UNRESOLVED = "unresolved", AboutOrder
    REFUSED = "refused", AboutOrder
    PRICE_MOVED = "price_moved", AboutOrder
    RECIPIENT_MASKED = "recipient_masked", AboutOrder  # found by a masked number: asks whether it is the sender's
    NOT_SHOWN = "not_shown", AboutOrder  # the invoice wasn't what was agreed
    OUTSIDE_LIMITS = "outside_limits", AboutOrder  # the locked rupiah are below the minimum or above the cap
    SUPERSEDED = "superseded", AboutOrder  # found after its sender placed the same order again
    DEPOSIT_TAKEN = "deposit_taken", AboutOrder  # another open deposit has the same amount and address
    LINK_PAID = "link_paid", AboutOrder  # its link was paid before it was shown, and can be paid once
    LINK_ENDED = "link_ended", AboutOrder
    LINK_CLOSED = "link_closed", AboutOrder
    LINK_PAUSED = "link_paused", AboutOrder  # also if links are switched off, or the link's row can't be read
    WITHDRAWN = "withdrawn", AboutOrder  # operators have closed its link, so its invoice is removed
    OFFER_OVER = "offer_over", AboutOrder  # found when there was too little time left to pay it
    INVOICE = "invoice", AboutOrder  # the QR code and the text to pay with
    INVOICE_TEXT = "invoice_text", AboutOrder  # the text of an invoice that is too long for a caption
    EDIT_REVIEW = (
        "edit_review",
        AboutOrder,
        Queue.EDITS,
    )  # leaves one line of the review: what follows is there
    EDIT_STATUS = "edit_status", AboutOrder, Queue.EDITS  # edits the message that shows the status of a paid order
    REMOVE_INVOICE = "remove_invoice", AboutOrder, Queue.EDITS  # removes the invoice: it can no longer be paid
    # Replaces the QR code of an invoice too old to be deleted.
    REPLACE_QR_CODE = "replace_qr_code", AboutOrder, Queue.EDITS
    PAID = "paid", AboutOrder
    PAID_LATE = "paid_late", AboutOrder
    CONVERTING = "converting", AboutOrder  # these two only if the user asked for each step (orders/preferences.py)
    SENDING = "sending", AboutOrder
    SENT = "sent", AboutOrder  # the picture of the receipt
    FAILED = "failed", AboutOrder
    EXPIRED = "expired", AboutOrder
    OVERDUE = "overdue", AboutOrder  # paid, and not done for too long


LINK_OUTCOMES: Final = tuple(kind for kind in OrderNotification if kind.startswith("link_"))
"""Why an order from a link is no longer created or shown."""

OUTCOMES: Final = (
    OrderNotification.CHECKING,
    OrderNotification.UNRESOLVED,
    OrderNotification.REFUSED,
    OrderNotification.NOT_SHOWN,
    OrderNotification.OUTSIDE_LIMITS,
    OrderNotification.SUPERSEDED,
    OrderNotification.DEPOSIT_TAKEN,
    *LINK_OUTCOMES,
    OrderNotification.OFFER_OVER,
)
"""What became of a confirmed order that isn't paid. They are shown in its review."""

PAYMENT_MESSAGES: Final = (OrderNotification.INVOICE, OrderNotification.INVOICE_TEXT)
"""The messages with which an order is paid. They are removed when it can no longer be paid."""

STATUS_MESSAGES: Final = (OrderNotification.PAID, OrderNotification.PAID_LATE)
"""The message that is edited at each step."""

ABOUT_MONEY: Final = (
    OrderNotification.INVOICE,
    OrderNotification.INVOICE_TEXT,
    OrderNotification.PRICE_MOVED,
    OrderNotification.RECIPIENT_MASKED,
    OrderNotification.UNRESOLVED,
    OrderNotification.WITHDRAWN,
    OrderNotification.PAID,
    OrderNotification.PAID_LATE,
    OrderNotification.SENT,
    OrderNotification.FAILED,
    OrderNotification.OVERDUE,
)
"""Messages that a user must not miss."""

REMOVALS: Final = (OrderNotification.REMOVE_INVOICE, OrderNotification.REPLACE_QR_CODE)
"""If one of these is given up, an invoice that must no longer be paid is still visible."""

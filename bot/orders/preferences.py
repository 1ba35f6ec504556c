"""How notifications reach a user: with sound, silently, or only by an edit of the status message.

One table has the defaults and what users can choose. The settings and the rendering both use it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.orders.notifications import OUTCOMES, OrderNotification
from bot.orders.order import Order
from bot.settlement.model import OrderStep


class DeliveryMode(StrEnum):
    """How a notification arrives."""

    SOUND = "sound"
    SILENT = "silent"
    STATUS_ONLY = "status"  # only the status message is edited. The first one arrives silently


ANY_MODE: Final = (DeliveryMode.SOUND, DeliveryMode.SILENT, DeliveryMode.STATUS_ONLY)
AS_MESSAGE: Final = (DeliveryMode.SOUND, DeliveryMode.SILENT)
"""The modes for what always arrives as a message, such as problems with money and questions, which need the user."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Notifications that share one mode. `default` applies until the user chooses one of `modes`."""

    name: str
    kinds: frozenset[OrderNotification]
    default: DeliveryMode
    modes: tuple[DeliveryMode, ...]

    @property
    def is_choosable(self) -> bool:
        """Whether users can choose its mode."""
        return len(self.modes) > 1

    @property
    def may_be_status_only(self) -> bool:
        """Whether users can choose to get only an edit of the status message."""
        return DeliveryMode.STATUS_ONLY in self.modes


CREATING: Final = frozenset(OUTCOMES) - {OrderNotification.UNRESOLVED}
"""The results of creating an order, except an invoice."""

PROBLEMS: Final = frozenset({OrderNotification.FAILED, OrderNotification.OVERDUE, OrderNotification.WITHDRAWN})

TOPICS: Final = (
    Topic("paid", frozenset({OrderNotification.PAID, OrderNotification.PAID_LATE}), DeliveryMode.SOUND, ANY_MODE),
    Topic(
        "steps",
        frozenset({OrderNotification.CONVERTING, OrderNotification.SENDING}),
        DeliveryMode.STATUS_ONLY,
        ANY_MODE,
    ),
    Topic("sent", frozenset({OrderNotification.SENT}), DeliveryMode.SOUND, ANY_MODE),
    # The QR code is removed, so there is no status message left to edit.
    Topic("expired", frozenset({OrderNotification.EXPIRED}), DeliveryMode.SILENT, AS_MESSAGE),
    Topic("failed", PROBLEMS, DeliveryMode.SOUND, AS_MESSAGE),
    Topic(
        "questions",
        frozenset({OrderNotification.PRICE_MOVED, OrderNotification.RECIPIENT_MASKED, OrderNotification.UNRESOLVED}),
        DeliveryMode.SOUND,
        AS_MESSAGE,
    ),
    # These come right after the user pressed a button. There is no status message yet that could show them.
    Topic("making", CREATING, DeliveryMode.SILENT, (DeliveryMode.SILENT,)),
)
CHOOSABLE: Final = tuple(topic for topic in TOPICS if topic.is_choosable)

Choices = Mapping[str, str]
"""Topic name -> mode, for the topics that a user has changed from the default."""

_STEP_NOTIFICATIONS: Final = {
    OrderStep.CONVERTING: OrderNotification.CONVERTING,
    OrderStep.SENDING: OrderNotification.SENDING,
}


def find_topic(kind: OrderNotification) -> Topic | None:
    """Return the topic of a kind. None means that users can't choose, as for the status message and the invoice."""
    return next((topic for topic in TOPICS if kind in topic.kinds), None)


def find_topic_by_name(name: str) -> Topic | None:
    """Return the choosable topic with this name."""
    return next((topic for topic in CHOOSABLE if topic.name == name), None)


def chosen_mode(topic: Topic, choices: Choices | None) -> DeliveryMode:
    """Return how notifications of `topic` arrive. An invalid choice counts as no choice."""
    choice = (choices or {}).get(topic.name)
    return next((mode for mode in topic.modes if mode == choice), topic.default)


def delivery_mode(kind: OrderNotification, choices: Choices | None) -> DeliveryMode:
    """Return how a kind of notification arrives. Without a topic it arrives with sound, so that nobody misses it."""
    topic = find_topic(kind)
    return DeliveryMode.SOUND if topic is None else chosen_mode(topic, choices)


def set_mode(choices: Choices | None, topic: Topic, mode: DeliveryMode) -> Choices | None:
    """Return the choices with this mode for `topic`, or None if all are the default then.

    Raises:
        ValueError: the topic doesn't have this mode.
    """
    if mode not in topic.modes:
        raise ValueError(f"{topic.name} can't arrive as {mode}")
    kept = {name: value for name, value in (choices or {}).items() if name != topic.name}
    return (kept if mode is topic.default else {**kept, topic.name: str(mode)}) or None


def next_mode(topic: Topic, mode: DeliveryMode) -> DeliveryMode:
    """Return the mode that the next tap chooses."""
    return topic.modes[(topic.modes.index(mode) + 1) % len(topic.modes)]


def step_notification(before: Order, after: Order) -> OrderNotification | None:
    """Return the notification of a step of a paid order, or None if there is none or another one replaces it."""
    if not before.is_paid or after.is_ended or after.step <= before.step:
        return None
    return _STEP_NOTIFICATIONS.get(after.step)

"""How notifications reach a user: with sound, silently, or only on the order's card.

One table says what is usual, what may be chosen, and so what the settings offer and what the teller does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.orders.notifications.kinds import OrderNotification
from bot.orders.order import Order
from bot.settlement.steps import Step


class Way(StrEnum):
    """How a notification arrives."""

    SOUND = "sound"
    SILENT = "silent"
    CARD = "card"  # no message of its own: the order's card has changed, and that is all


ANY_WAY: Final = (Way.SOUND, Way.SILENT, Way.CARD)
AS_A_MESSAGE: Final = (Way.SOUND, Way.SILENT)
"""For what needs the person: trouble with their money, and questions. It stays in the chat until it is read."""


@dataclass(frozen=True, slots=True)
class Topic:
    """News that are chosen about together. `usual` holds until a person chooses one of `ways`."""

    name: str
    notices: frozenset[OrderNotification]
    usual: Way
    ways: tuple[Way, ...]

    @property
    def is_choosable(self) -> bool:
        """Whether there is anything to choose."""
        return len(self.ways) > 1

    @property
    def may_stay_on_the_card(self) -> bool:
        """Whether the card alone may tell of it."""
        return Way.CARD in self.ways


CREATING: Final = frozenset(
    {
        OrderNotification.CHECKING,
        OrderNotification.REFUSED,
        OrderNotification.NOT_SHOWN,
        OrderNotification.OUTSIDE_LIMITS,
        OrderNotification.SUPERSEDED,
        OrderNotification.DEPOSIT_TAKEN,
    }
)
"""What comes of creating an order, where no invoice does."""

TOPICS: Final = (
    Topic("paid", frozenset({OrderNotification.PAID, OrderNotification.PAID_LATE}), Way.SOUND, ANY_WAY),
    Topic("steps", frozenset({OrderNotification.CONVERTING, OrderNotification.SENDING}), Way.CARD, ANY_WAY),
    Topic("sent", frozenset({OrderNotification.SENT}), Way.SOUND, ANY_WAY),
    Topic("expired", frozenset({OrderNotification.EXPIRED}), Way.SILENT, ANY_WAY),
    Topic("failed", frozenset({OrderNotification.FAILED, OrderNotification.STUCK}), Way.SOUND, AS_A_MESSAGE),
    Topic(
        "questions",
        frozenset({OrderNotification.PRICE_MOVED, OrderNotification.RECIPIENT_MASKED, OrderNotification.UNRESOLVED}),
        Way.SOUND,
        AS_A_MESSAGE,
    ),
    # What comes at once after the person's own press: they are looking, and there is no card yet to tell it.
    Topic("making", CREATING, Way.SILENT, (Way.SILENT,)),
)
CHOOSABLE: Final = tuple(topic for topic in TOPICS if topic.is_choosable)

Choices = Mapping[str, str]
"""Topic -> way, where a person's choice differs from the usual."""

_STEP_NOTIFICATIONS: Final = {Step.CONVERTING: OrderNotification.CONVERTING, Step.SENDING: OrderNotification.SENDING}


def topic_of(notice: OrderNotification) -> Topic | None:
    """The topic that `notice` belongs to; None for what is no message of its own (a card, an invoice)."""
    return next((topic for topic in TOPICS if notice in topic.notices), None)


def topic_named(name: str) -> Topic | None:
    """The choosable topic of this name."""
    return next((topic for topic in CHOOSABLE if topic.name == name), None)


def chosen(topic: Topic, choices: Choices | None) -> Way:
    """How notifications of `topic` arrive for a user with these choices; what can't be chosen counts as not chosen."""
    wished = (choices or {}).get(topic.name)
    return next((way for way in topic.ways if way == wished), topic.usual)


def way_of(notice: OrderNotification, choices: Choices | None) -> Way:
    """How `notice` arrives. News of no topic rings: better heard once too often than not at all."""
    topic = topic_of(notice)
    return Way.SOUND if topic is None else chosen(topic, choices)


def choose(choices: Choices | None, topic: Topic, way: Way) -> Choices | None:
    """The choices with `topic` told by `way`; None where nothing differs from the usual any more.

    Raises:
        ValueError: the topic isn't told that way.
    """
    if way not in topic.ways:
        raise ValueError(f"{topic.name} can't be told by {way}")
    kept = {name: value for name, value in (choices or {}).items() if name != topic.name}
    return (kept if way is topic.usual else {**kept, topic.name: str(way)}) or None


def next_way(topic: Topic, way: Way) -> Way:
    """What one more tap makes of `way`."""
    return topic.ways[(topic.ways.index(way) + 1) % len(topic.ways)]


def step_notification(before: Order, after: Order) -> OrderNotification | None:
    """The notification of a small step of a paid order; None where a bigger one says so, or it hasn't."""
    if not before.is_paid or after.is_ended or after.step <= before.step:
        return None
    return _STEP_NOTIFICATIONS.get(after.step)

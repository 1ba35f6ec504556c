"""Every kind of notification is in one topic, and the mode that a user has chosen applies."""

import pytest

from bot.orders.notifications import OrderNotification
from bot.orders.preferences import (
    TOPICS,
    DeliveryMode,
    delivery_mode,
    set_mode,
)
from tests.orders.builders import REPORTS

BY_NAME = {topic.name: topic for topic in TOPICS}


@pytest.mark.parametrize("notice", REPORTS)
def test_every_message_about_an_order_belongs_to_exactly_one_topic(notice: OrderNotification) -> None:
    assert sum(notice in topic.kinds for topic in TOPICS) == 1


def test_money_and_questions_ring_as_long_as_nothing_else_is_chosen() -> None:
    ringing = {notice for notice in REPORTS if delivery_mode(notice, None) is DeliveryMode.SOUND}
    assert ringing == {
        OrderNotification.PAID,
        OrderNotification.PAID_LATE,
        OrderNotification.SENT,
        OrderNotification.FAILED,
        OrderNotification.OVERDUE,
        OrderNotification.WITHDRAWN,
        OrderNotification.PRICE_MOVED,
        OrderNotification.RECIPIENT_MASKED,
        OrderNotification.UNRESOLVED,
    }
    assert {notice for notice in REPORTS if delivery_mode(notice, None) is DeliveryMode.STATUS_ONLY} == {
        OrderNotification.CONVERTING,
        OrderNotification.SENDING,
    }


def test_trouble_and_questions_never_stay_on_the_status_message() -> None:
    trouble = (
        OrderNotification.FAILED,
        OrderNotification.OVERDUE,
        OrderNotification.WITHDRAWN,
        OrderNotification.PRICE_MOVED,
        OrderNotification.UNRESOLVED,
        OrderNotification.CHECKING,
        OrderNotification.REFUSED,
    )
    for notice in trouble:
        for mode in DeliveryMode:
            everything = {topic.name: str(mode) for topic in TOPICS}
            assert delivery_mode(notice, everything) is not DeliveryMode.STATUS_ONLY


def test_only_what_differs_from_the_usual_is_kept() -> None:
    sent, paid = BY_NAME["sent"], BY_NAME["paid"]
    choices = set_mode(None, sent, DeliveryMode.SILENT)
    assert choices == {"sent": "silent"}
    choices = set_mode(choices, paid, DeliveryMode.STATUS_ONLY)
    assert choices == {"sent": "silent", "paid": "status"}
    assert delivery_mode(OrderNotification.PAID_LATE, choices) is DeliveryMode.STATUS_ONLY
    choices = set_mode(choices, sent, DeliveryMode.SOUND)
    assert choices == {"paid": "status"}
    assert set_mode(choices, paid, DeliveryMode.SOUND) is None

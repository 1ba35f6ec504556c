"""Every kind of notification is in one topic, and the mode that a user has chosen applies."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.orders.notifications import OrderNotification
from bot.orders.preferences import (
    CHOOSABLE,
    TOPICS,
    DeliveryMode,
    chosen_mode,
    delivery_mode,
    find_topic_by_name,
    next_mode,
    set_mode,
    step_notification,
)
from bot.settlement.model import OrderStep
from tests.orders.builders import REPORTS, an_open_order
from tests.screens import NOW

CHOICES = st.dictionaries(st.sampled_from([*(topic.name for topic in TOPICS), "weather"]), st.text(max_size=6))
BY_NAME = {topic.name: topic for topic in TOPICS}


@pytest.mark.parametrize("notice", REPORTS)
def test_every_message_about_an_order_belongs_to_exactly_one_topic(notice: OrderNotification) -> None:
    assert sum(notice in topic.kinds for topic in TOPICS) == 1


def test_what_has_no_message_of_its_own_belongs_to_none() -> None:
    assert frozenset[OrderNotification]().union(*(topic.kinds for topic in TOPICS)) == set(REPORTS)


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


@given(CHOICES)
def test_choices_from_elsewhere_or_of_old_never_silence_what_has_to_be_told(choices: dict[str, str]) -> None:
    for topic in TOPICS:
        assert chosen_mode(topic, choices) in topic.modes


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


def test_what_isnt_offered_cant_be_chosen() -> None:
    with pytest.raises(ValueError, match="failed"):
        set_mode(None, BY_NAME["failed"], DeliveryMode.STATUS_ONLY)
    assert find_topic_by_name("making") is None
    assert find_topic_by_name("failed") is BY_NAME["failed"]


def test_tapping_on_comes_back_to_where_it_began() -> None:
    for topic in CHOOSABLE:
        mode, seen = topic.default, []
        for _ in topic.modes:
            seen.append(mode)
            mode = next_mode(topic, mode)
        assert mode is topic.default
        assert sorted(seen) == sorted(topic.modes)


def test_a_small_step_of_a_paid_order_is_a_notification_once() -> None:
    paid = replace(an_open_order(), state="LN_INVOICE_PAID", step=OrderStep.PAID, paid_at=NOW)
    converting = replace(paid, state="LN_SWAP_PENDING", step=OrderStep.CONVERTING)
    sending = replace(paid, state="P2PM_ORDER_PLACED", step=OrderStep.SENDING)
    assert step_notification(paid, converting) is OrderNotification.CONVERTING
    assert step_notification(converting, sending) is OrderNotification.SENDING
    assert step_notification(paid, sending) is OrderNotification.SENDING
    assert step_notification(converting, converting) is None
    assert step_notification(sending, converting) is None


def test_a_step_that_a_bigger_notification_reports_has_none_of_its_own() -> None:
    fresh = an_open_order()
    converting = replace(fresh, state="LN_SWAP_PENDING", step=OrderStep.CONVERTING, paid_at=NOW)
    assert step_notification(fresh, converting) is None  # "payment received" is being sent
    assert step_notification(converting, replace(converting, state="COMPLETED", step=OrderStep.SENT)) is None
    assert step_notification(converting, replace(converting, state="FAILED", step=OrderStep.SENDING)) is None

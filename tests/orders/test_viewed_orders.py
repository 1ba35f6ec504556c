"""Viewed orders are remembered for half a minute, and only the most recent ones."""

from bot.orders.tracking.viewed_orders import MAX_VIEWED, VIEWED_FOR, ViewedOrders
from tests.settlement.fake_settlement import MovedClock


def test_a_look_counts_for_half_a_minute_after_the_last_one() -> None:
    clock = MovedClock()
    viewed = ViewedOrders(clock)
    viewed.record_viewed_page("R1")
    viewed.record_active_user(7)
    clock.passes(seconds=20)
    viewed.record_viewed_page("R2")
    viewed.record_active_user(7)
    assert (viewed.references(), viewed.users()) == (("R1", "R2"), (7,))
    clock.passes(seconds=10)
    assert (viewed.references(), viewed.users()) == (("R2",), (7,))
    clock.at += VIEWED_FOR
    assert (viewed.references(), viewed.users()) == ((), ())


def test_a_crowd_is_remembered_no_further_than_it_can_be_polled() -> None:
    viewed = ViewedOrders(MovedClock())
    for number in range(10 * MAX_VIEWED):
        viewed.record_viewed_page(f"R{number}")
    viewed.record_viewed_page(f"R{10 * MAX_VIEWED - MAX_VIEWED}")
    assert len(viewed.references()) == MAX_VIEWED
    assert viewed.references()[-1] == f"R{9 * MAX_VIEWED}"

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


def test_a_process_announces_what_is_viewed_there_now_and_then_and_the_others_record_it() -> None:
    clock = MovedClock()
    here, there, announced = ViewedOrders(clock), ViewedOrders(clock), list[str]()
    here.announce = announced.append
    for seconds in (0, 2, 2, 2):
        clock.passes(seconds=seconds)
        here.record_viewed_page("R1")
        here.record_active_user(7)
    assert announced == ["viewed-page:R1", "active-user:7"] * 2
    assert all(there.record_announcement(each) for each in announced)
    assert (there.references(), there.users()) == (("R1",), (7,))
    assert not there.record_announcement("outbox")

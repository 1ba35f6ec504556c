"""An order that may exist isn't sent again before the caller got a list of orders that can show it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.money import Amount
from bot.mcp_server.answers import describe_order
from bot.mcp_server.unresolved_orders import (
    APPEARS_WITHIN,
    CLOCK_SLACK,
    CREATED_FOR,
    Listing,
    Request,
    TooManyUnresolved,
    UnresolvedOrder,
    UnresolvedOrders,
    request_of,
)
from bot.settlement.errors import NeverReached, NoAnswer, Refused
from bot.settlement.model import NewestOrders, PayoutMethod
from tests.settlement.builders import a_report, a_request

SERVED_AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
"""The service's clock has nothing to do with the monotonic seconds of this process."""


class Seconds:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


BANK = PayoutMethod("014", "BANK", "bank")
WALLET = PayoutMethod("gopay", "GOPAY", "ewallet")


def request(amount: int = 150_000, **changes: Any) -> Request:
    return request_of(a_request(Amount("IDR", amount), **{"method": BANK, **changes}))


def fails(unresolved: UnresolvedOrders, error: BaseException) -> None:
    with pytest.raises(type(error)), unresolved.prevent_repeat(request()):
        raise error


def listed(*ages: float | None, ids: tuple[str, ...] = (), skipped: int = 0) -> NewestOrders:
    """Return a list with an order of each age in seconds, newest first."""
    rows = [
        a_report(name, "ROUTE_SHOWN", created_at=None if age is None else SERVED_AT - timedelta(seconds=age))
        for name, age in zip((*ids, *map(str, range(len(ages)))), ages, strict=False)
    ]
    return NewestOrders(tuple(rows), SERVED_AT, skipped)


def look(unresolved: UnresolvedOrders, seconds: Seconds, found: NewestOrders | None = None, limit: int = 50) -> None:
    """Give a list to the caller, by default a short one."""
    unresolved.finish_listing(Listing(seconds(), seconds(), limit, found or listed(1)))


def is_refused(unresolved: UnresolvedOrders) -> bool:
    """Return whether the request isn't sent again. If it is, the service rejects it."""
    try:
        reject(unresolved)
    except UnresolvedOrder:
        return True
    except Refused:
        return False
    raise AssertionError


def reject(unresolved: UnresolvedOrders, amount: int = 150_000) -> None:
    with unresolved.prevent_repeat(request(amount)):
        raise Refused(status=400)


def lose(unresolved: UnresolvedOrders, seconds: Seconds, after: float) -> None:
    with unresolved.prevent_repeat(request()):
        seconds.now += after
        raise NoAnswer


def in_doubt() -> tuple[UnresolvedOrders, Seconds]:
    """Return the memory after an answer was lost, long enough ago that the order would be listed."""
    seconds = Seconds()
    unresolved = UnresolvedOrders(seconds)
    fails(unresolved, NoAnswer("silence"))
    seconds.now += APPEARS_WITHIN
    return unresolved, seconds


def test_an_order_that_surely_was_not_created_can_be_sent_again() -> None:
    unresolved = UnresolvedOrders()
    for error in (Refused(status=400), NeverReached("no route")):
        fails(unresolved, error)
        fails(unresolved, error)


def test_a_created_order_is_not_created_again_by_a_caller_who_missed_the_answer() -> None:
    seconds = Seconds()
    unresolved = UnresolvedOrders(seconds)
    with unresolved.prevent_repeat(request()) as sending:
        sending.order_id = "cm1"
    with pytest.raises(UnresolvedOrder) as raised, unresolved.prevent_repeat(request()):
        pytest.fail("it was sent again")
    assert (raised.value.order_id, raised.value.is_running) == ("cm1", False)
    with unresolved.prevent_repeat(request(160_000)):
        pass
    seconds.now += CREATED_FOR
    assert not is_refused(unresolved)


@pytest.mark.parametrize(
    ("limit", "found", "ends"),
    [
        (1, listed(2, ids=("cm1",)), True),
        (50, listed(1, 2, ids=("cm2", "cm1")), True),
        (1, listed(1, ids=("cm2",)), False),
        (50, listed(1, 5000, ids=("cm2",)), False),
        (50, listed(), False),
    ],
)
def test_a_created_order_is_repeated_only_after_a_list_that_has_it(
    limit: int, found: NewestOrders, *, ends: bool
) -> None:
    seconds = Seconds()
    unresolved = UnresolvedOrders(seconds)
    with unresolved.prevent_repeat(request()) as sending:
        sending.order_id = "cm1"
    seconds.now += APPEARS_WITHIN
    look(unresolved, seconds, found, limit)
    assert is_refused(unresolved) is not ends


@pytest.mark.parametrize("error", [NoAnswer("silence"), KeyboardInterrupt(), ZeroDivisionError()])
def test_one_without_a_known_outcome_cannot_until_somebody_looked(error: BaseException) -> None:
    seconds = Seconds()
    unresolved = UnresolvedOrders(seconds)
    fails(unresolved, error)
    with pytest.raises(UnresolvedOrder) as raised, unresolved.prevent_repeat(request()):
        pytest.fail("it was sent again")
    assert (raised.value.order_id, raised.value.is_running) == (None, False)
    assert unresolved.unknown() == [request()]
    with pytest.raises(Refused):
        reject(unresolved, 160_000)
    seconds.now += APPEARS_WITHIN
    look(unresolved, seconds)
    assert unresolved.unknown() == []
    assert not is_refused(unresolved)


OLDER = APPEARS_WITHIN + CLOCK_SLACK + 1
"""An age in seconds of an order that is surely older than the request of `in_doubt`."""


@pytest.mark.parametrize(
    ("limit", "found", "ends"),
    [
        (1, listed(1), False),
        (1, listed(OLDER), True),
        (2, listed(1, OLDER), True),
        (2, listed(1, APPEARS_WITHIN), False),
        (2, listed(1, OLDER - 2), False),
        (3, listed(1, 2), True),
        (100, listed(*[1] * 100), False),
        (100, listed(*[1] * 99), True),
        (100, listed(), False),
        (1, listed(None), False),
        # The oldest order is the last one, whatever the times of the others are.
        (2, listed(OLDER, 1), False),
        (2, listed(OLDER, skipped=1), False),
        (50, listed(1, skipped=1), False),
    ],
)
def test_a_doubt_ends_only_by_a_list_that_reaches_back_to_it(limit: int, found: NewestOrders, *, ends: bool) -> None:
    unresolved, seconds = in_doubt()
    look(unresolved, seconds, found, limit)
    assert is_refused(unresolved) is not ends


@given(
    lost_after=st.floats(0, 300),
    ages=st.lists(st.floats(0, 2000), min_size=1, max_size=6),
    asked_after=st.floats(0, 300),
    took=st.floats(0, 30),
    limit=st.integers(1, 6),
)
def test_no_list_ends_a_doubt_that_can_lack_the_order(
    lost_after: float, ages: list[float], asked_after: float, took: float, limit: int
) -> None:
    seconds = Seconds()
    unresolved = UnresolvedOrders(seconds)
    sent_at = seconds.now
    with pytest.raises(NoAnswer):
        lose(unresolved, seconds, lost_after)
    seconds.now += asked_after
    asked_at = seconds()
    seconds.now += took
    rows = sorted(ages)[:limit]
    unresolved.finish_listing(Listing(asked_at, seconds(), limit, listed(*rows)))
    # The service may have listed at any moment between, and created the order at any moment after it was requested.
    can_lack_it = len(rows) == limit and seconds.now - rows[-1] >= sent_at
    if can_lack_it or asked_after < APPEARS_WITHIN:
        assert is_refused(unresolved)
    elif len(rows) < limit:
        assert not is_refused(unresolved)


def test_a_list_that_was_asked_for_before_the_order_was_sent_proves_nothing() -> None:
    seconds = Seconds()
    unresolved = UnresolvedOrders(seconds)
    asked_at = seconds()
    fails(unresolved, NoAnswer("silence"))
    seconds.now += APPEARS_WITHIN
    unresolved.finish_listing(Listing(asked_at, seconds(), 50, listed(1)))
    assert is_refused(unresolved)


def test_a_list_that_was_asked_for_while_the_order_was_under_way_proves_nothing() -> None:
    seconds = Seconds()
    unresolved = UnresolvedOrders(seconds)
    with unresolved.prevent_repeat(request()):
        asked_at = seconds()
    seconds.now += APPEARS_WITHIN
    unresolved.finish_listing(Listing(asked_at, seconds(), 50, listed(1)))
    assert is_refused(unresolved)


def test_one_under_way_cannot_be_sent_beside_itself_even_after_a_look() -> None:
    seconds = Seconds()
    unresolved = UnresolvedOrders(seconds)
    with unresolved.prevent_repeat(request()):
        look(unresolved, seconds)
        with pytest.raises(UnresolvedOrder) as raised, unresolved.prevent_repeat(request()):
            pytest.fail("it was sent twice")
        assert raised.value.is_running


def test_another_spelling_of_the_holder_or_of_a_mobile_number_is_the_same_order() -> None:
    assert request(holder="BUDI") == request(holder="Budi ")
    spellings = ("081234567890", "+6281234567890", "6281234567890")
    assert len({request(method=WALLET, number=each) for each in spellings}) == 1
    accounts = ("081234567890", "6281234567890")
    assert len({request(number=each) for each in accounts}) == 2
    assert request(channel="lightning") == request()
    assert request(channel="cbbtc") != request()


def test_a_doubt_is_never_forgotten_to_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.mcp_server.unresolved_orders.REMEMBERED", 3)
    unresolved, seconds = in_doubt()
    for amount in range(1, 8):
        with unresolved.prevent_repeat(request(amount)) as sending:
            sending.order_id = f"cm{amount}"
    assert len(unresolved._remembered) == 3
    assert is_refused(unresolved)
    for amount in (8, 9):
        with pytest.raises(NoAnswer), unresolved.prevent_repeat(request(amount)):
            raise NoAnswer
    with pytest.raises(TooManyUnresolved), unresolved.prevent_repeat(request(10)):
        pytest.fail("its outcome couldn't be remembered")
    assert len(unresolved.unknown()) == 3
    seconds.now += APPEARS_WITHIN
    look(unresolved, seconds)
    with unresolved.prevent_repeat(request(10)) as sending:
        sending.order_id = "cm10"


def test_orders_under_way_count_towards_the_limit_of_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.mcp_server.unresolved_orders.REMEMBERED", 2)
    unresolved = UnresolvedOrders()
    with unresolved.prevent_repeat(request(1)), unresolved.prevent_repeat(request(2)), pytest.raises(TooManyUnresolved):
        reject(unresolved)
    assert len(unresolved.unknown()) == 2
    with pytest.raises(TooManyUnresolved):
        reject(unresolved)


def test_a_doubt_is_described_without_its_recipient() -> None:
    assert describe_order(request()) == "Rp150,000 to BANK"
    in_sats = a_request(Amount("SAT", 25_000), method=BANK)
    assert describe_order(request_of(in_sats)) == "25,000 sats to BANK"

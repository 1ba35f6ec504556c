"""An order that may exist isn't sent again before the caller has listed orders."""

import pytest

from bot.mcp_server.tools.unresolved_orders import CREATED_FOR, Request, UnresolvedOrder, UnresolvedOrders, request_of
from bot.settlement.client import NeverReached, NoAnswer, OrderInput, SettlementError, ValidationRejected


class Seconds:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def order(amount: int = 150_000, **changes: str) -> OrderInput:
    known = {"partner_bank_code": "014", "partner_bank_name": "BANK", "recipient_details": "1234567890"}
    return OrderInput(idr_amount=amount, **{**known, **changes})


def request(amount: int = 150_000) -> Request:
    return request_of(order(amount), "bank")


def fails(unresolved: UnresolvedOrders, error: BaseException) -> None:
    with pytest.raises(type(error)), unresolved.prevent_repeat(request()):
        raise error


def look(unresolved: UnresolvedOrders, *, is_empty: bool = False) -> None:
    unresolved.finish_listing(unresolved.start_listing(), is_empty=is_empty)


def test_an_order_that_surely_was_not_created_can_be_sent_again() -> None:
    unresolved = UnresolvedOrders()
    for error in (ValidationRejected(400), NeverReached("no route")):
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
    with unresolved.prevent_repeat(request()) as sending:
        sending.order_id = "cm2"
    look(unresolved)
    with unresolved.prevent_repeat(request()):
        pass


@pytest.mark.parametrize("error", [NoAnswer("silence"), KeyboardInterrupt(), ZeroDivisionError()])
def test_one_without_a_known_outcome_cannot_until_somebody_looked(error: BaseException) -> None:
    unresolved = UnresolvedOrders()
    fails(unresolved, error)
    with pytest.raises(UnresolvedOrder) as raised, unresolved.prevent_repeat(request()):
        pytest.fail("it was sent again")
    assert (raised.value.order_id, raised.value.is_running) == (None, False)
    with unresolved.prevent_repeat(request(160_000)):
        pass
    look(unresolved)
    with unresolved.prevent_repeat(request()):
        pass


def test_an_empty_list_proves_nothing() -> None:
    unresolved = UnresolvedOrders()
    fails(unresolved, NoAnswer("silence"))
    look(unresolved, is_empty=True)
    with pytest.raises(UnresolvedOrder), unresolved.prevent_repeat(request()):
        pytest.fail("it was sent again")


def test_a_list_that_was_asked_for_before_the_order_was_sent_proves_nothing() -> None:
    unresolved = UnresolvedOrders()
    started = unresolved.start_listing()
    fails(unresolved, NoAnswer("silence"))
    unresolved.finish_listing(started, is_empty=False)
    with pytest.raises(UnresolvedOrder), unresolved.prevent_repeat(request()):
        pytest.fail("it was sent again")


def test_a_list_that_was_asked_for_while_the_order_was_under_way_proves_nothing() -> None:
    unresolved, started = UnresolvedOrders(), 0
    with unresolved.prevent_repeat(request()):
        started = unresolved.start_listing()
    unresolved.finish_listing(started, is_empty=False)
    with pytest.raises(UnresolvedOrder), unresolved.prevent_repeat(request()):
        pytest.fail("it was sent again")


def test_one_under_way_cannot_be_sent_beside_itself_even_after_a_look() -> None:
    unresolved = UnresolvedOrders()
    with unresolved.prevent_repeat(request()):
        look(unresolved)
        with pytest.raises(UnresolvedOrder) as raised, unresolved.prevent_repeat(request()):
            pytest.fail("it was sent twice")
        assert raised.value.is_running


def test_another_spelling_of_the_holder_or_of_a_mobile_number_is_the_same_order() -> None:
    assert request_of(order(bank_account_name="BUDI"), "bank") == request_of(order(bank_account_name="Budi "), "bank")
    spellings = ("081234567890", "+6281234567890", "6281234567890")
    assert len({request_of(order(recipient_details=each), "ewallet") for each in spellings}) == 1
    accounts = ("081234567890", "6281234567890")
    assert len({request_of(order(recipient_details=each), "bank") for each in accounts}) == 2
    assert request_of(order(deposit_channel="lightning"), "bank") == request()
    assert request_of(order(deposit_channel="cbbtc"), "bank") != request()


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.mcp_server.memory.REMEMBERED", 3)
    unresolved = UnresolvedOrders()
    for amount in range(1, 6):
        with pytest.raises(SettlementError), unresolved.prevent_repeat(request(amount)):
            raise NoAnswer
    with unresolved.prevent_repeat(request(1)):
        pass
    with pytest.raises(UnresolvedOrder), unresolved.prevent_repeat(request(5)):
        pytest.fail("it was sent again")

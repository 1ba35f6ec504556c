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


def fails(doubts: UnresolvedOrders, error: BaseException) -> None:
    with pytest.raises(type(error)), doubts.sending(request()):
        raise error


def look(doubts: UnresolvedOrders, *, is_empty: bool = False) -> None:
    doubts.looked(doubts.begin_look(), is_empty=is_empty)


def test_an_order_that_surely_was_not_created_can_be_sent_again() -> None:
    doubts = UnresolvedOrders()
    for error in (ValidationRejected(400), NeverReached("no route")):
        fails(doubts, error)
        fails(doubts, error)


def test_a_created_order_is_not_created_again_by_a_caller_who_missed_the_answer() -> None:
    seconds = Seconds()
    doubts = UnresolvedOrders(seconds)
    with doubts.sending(request()) as sending:
        sending.order_id = "cm1"
    with pytest.raises(UnresolvedOrder) as doubt, doubts.sending(request()):
        pytest.fail("it was sent again")
    assert (doubt.value.order_id, doubt.value.is_running) == ("cm1", False)
    with doubts.sending(request(160_000)):
        pass
    seconds.now += CREATED_FOR
    with doubts.sending(request()) as sending:
        sending.order_id = "cm2"
    look(doubts)
    with doubts.sending(request()):
        pass


@pytest.mark.parametrize("error", [NoAnswer("silence"), KeyboardInterrupt(), ZeroDivisionError()])
def test_one_without_a_known_outcome_cannot_until_somebody_looked(error: BaseException) -> None:
    doubts = UnresolvedOrders()
    fails(doubts, error)
    with pytest.raises(UnresolvedOrder) as doubt, doubts.sending(request()):
        pytest.fail("it was sent again")
    assert (doubt.value.order_id, doubt.value.is_running) == (None, False)
    with doubts.sending(request(160_000)):
        pass
    look(doubts)
    with doubts.sending(request()):
        pass


def test_an_empty_list_proves_nothing() -> None:
    doubts = UnresolvedOrders()
    fails(doubts, NoAnswer("silence"))
    look(doubts, is_empty=True)
    with pytest.raises(UnresolvedOrder), doubts.sending(request()):
        pytest.fail("it was sent again")


def test_a_list_that_was_asked_for_before_the_order_was_sent_proves_nothing() -> None:
    doubts = UnresolvedOrders()
    begun = doubts.begin_look()
    fails(doubts, NoAnswer("silence"))
    doubts.looked(begun, is_empty=False)
    with pytest.raises(UnresolvedOrder), doubts.sending(request()):
        pytest.fail("it was sent again")


def test_a_list_that_was_asked_for_while_the_order_was_under_way_proves_nothing() -> None:
    doubts, begun = UnresolvedOrders(), 0
    with doubts.sending(request()):
        begun = doubts.begin_look()
    doubts.looked(begun, is_empty=False)
    with pytest.raises(UnresolvedOrder), doubts.sending(request()):
        pytest.fail("it was sent again")


def test_one_under_way_cannot_be_sent_beside_itself_even_after_a_look() -> None:
    doubts = UnresolvedOrders()
    with doubts.sending(request()):
        look(doubts)
        with pytest.raises(UnresolvedOrder) as doubt, doubts.sending(request()):
            pytest.fail("it was sent twice")
        assert doubt.value.is_running


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
    doubts = UnresolvedOrders()
    for amount in range(1, 6):
        with pytest.raises(SettlementError), doubts.sending(request(amount)):
            raise NoAnswer
    with doubts.sending(request(1)):
        pass
    with pytest.raises(UnresolvedOrder), doubts.sending(request(5)):
        pytest.fail("it was sent again")

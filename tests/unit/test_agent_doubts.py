"""A wish that may have become an order isn't sent again before somebody looked."""

import pytest

from bot.agent_tools.doubts import Doubtful, Doubts
from bot.settlement import NeverReached, NoAnswer, OrderInput, SettlementError, ValidationRejected


def wish(amount: int = 150_000) -> OrderInput:
    return OrderInput(
        idr_amount=amount, partner_bank_code="014", partner_bank_name="BANK", recipient_details="1234567890"
    )


def fails(doubts: Doubts, error: BaseException) -> None:
    with pytest.raises(type(error)), doubts.sending(wish()):
        raise error


def test_a_wish_whose_outcome_is_known_can_be_sent_again() -> None:
    doubts = Doubts()
    for _ in range(2):
        with doubts.sending(wish()):
            pass
    for error in (ValidationRejected(400), NeverReached("no route")):
        fails(doubts, error)
        fails(doubts, error)


@pytest.mark.parametrize("error", [NoAnswer("silence"), KeyboardInterrupt(), ZeroDivisionError()])
def test_one_without_a_known_outcome_cannot_until_somebody_looked(error: BaseException) -> None:
    doubts = Doubts()
    fails(doubts, error)
    with pytest.raises(Doubtful) as doubt, doubts.sending(wish()):
        pytest.fail("it was sent again")
    assert not doubt.value.is_under_way
    with doubts.sending(wish(160_000)):
        pass
    doubts.looked()
    with doubts.sending(wish()):
        pass


def test_one_under_way_cannot_be_sent_beside_itself_even_after_a_look() -> None:
    doubts = Doubts()
    with doubts.sending(wish()):
        doubts.looked()
        with pytest.raises(Doubtful) as doubt, doubts.sending(wish()):
            pytest.fail("it was sent twice")
        assert doubt.value.is_under_way


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.agent_tools.doubts.REMEMBERED", 3)
    doubts = Doubts()
    for amount in range(1, 6):
        with pytest.raises(SettlementError), doubts.sending(wish(amount)):
            raise NoAnswer
    with doubts.sending(wish(1)):
        pass
    with pytest.raises(Doubtful), doubts.sending(wish(5)):
        pytest.fail("it was sent again")

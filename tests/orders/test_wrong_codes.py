"""Codes can't be tried out: misses are counted, hits aren't, and nobody is locked out by what others do."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.orders.receipts.wrong_codes import Allowance, TooManyWrongCodes, WrongCodeLimiter

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
EMMA, SARI = 1001, 1002


def misses(guesses: WrongCodeLimiter, user: int, times: int, now: datetime = NOW) -> None:
    for _ in range(times):
        guesses.charge(user, now)


def again(guesses: WrongCodeLimiter, user: int, now: datetime = NOW) -> datetime:
    """When a person who is refused now may guess again."""
    with pytest.raises(TooManyWrongCodes) as refusal:
        guesses.charge(user, now)
    return refusal.value.again


def stormy(*, calm_again_after: timedelta = timedelta(minutes=10)) -> WrongCodeLimiter:
    """Persons nobody has heard of have missed as much together as all may."""
    guesses = WrongCodeLimiter(for_all_users=Allowance(20, calm_again_after))
    for stranger in range(20):
        guesses.charge(stranger, NOW)
    return guesses


def test_ten_misses_are_free_and_the_eleventh_says_when_it_is_possible() -> None:
    guesses = WrongCodeLimiter()
    misses(guesses, EMMA, 10)
    assert again(guesses, EMMA) == NOW + MINUTE
    assert again(guesses, EMMA, NOW + MINUTE / 2) == NOW + MINUTE
    misses(guesses, EMMA, 1, NOW + MINUTE)
    assert again(guesses, EMMA, NOW + MINUTE) == NOW + 2 * MINUTE


def test_being_refused_costs_nothing_more() -> None:
    guesses = WrongCodeLimiter()
    misses(guesses, EMMA, 10)
    for _ in range(1000):
        again(guesses, EMMA)
    misses(guesses, EMMA, 1, NOW + MINUTE)


def test_after_a_rest_all_misses_are_free_again_and_no_more_than_those() -> None:
    guesses = WrongCodeLimiter()
    misses(guesses, EMMA, 10)
    later = NOW + timedelta(days=30)
    misses(guesses, EMMA, 10, later)
    assert again(guesses, EMMA, later) == later + MINUTE


def test_hits_cost_nothing_however_many() -> None:
    guesses = WrongCodeLimiter()
    for _ in range(1000):
        guesses.refund(EMMA, guesses.charge(EMMA, NOW))
    misses(guesses, EMMA, 10)


def test_a_hit_gives_no_miss_back() -> None:
    guesses = WrongCodeLimiter()
    misses(guesses, EMMA, 9)
    guesses.refund(EMMA, guesses.charge(EMMA, NOW))
    misses(guesses, EMMA, 1)
    again(guesses, EMMA)


def test_guesses_at_the_same_time_are_counted_before_any_is_looked_up() -> None:
    guesses = WrongCodeLimiter()
    under_way = [guesses.charge(EMMA, NOW) for _ in range(10)]
    again(guesses, EMMA)
    guesses.refund(EMMA, under_way[0])
    guesses.charge(EMMA, NOW)


def test_one_attacker_locks_out_nobody_else() -> None:
    guesses = WrongCodeLimiter()
    misses(guesses, EMMA, 10)
    for _ in range(1000):
        again(guesses, EMMA)
    misses(guesses, SARI, 10)


def test_where_many_miss_together_each_may_miss_once_a_window() -> None:
    guesses = stormy()
    misses(guesses, SARI, 1)
    assert again(guesses, SARI) == NOW + 10 * MINUTE
    assert again(guesses, SARI, NOW + 9 * MINUTE) == NOW + 10 * MINUTE
    misses(guesses, SARI, 1, NOW + 10 * MINUTE)


def test_meanwhile_who_has_a_genuine_receipt_is_served_as_ever() -> None:
    guesses = stormy()
    for _ in range(50):
        guesses.refund(SARI, guesses.charge(SARI, NOW))
    misses(guesses, SARI, 1)


def test_who_was_slowed_down_gets_their_guesses_back_one_by_one() -> None:
    guesses = stormy(calm_again_after=MINUTE)
    misses(guesses, SARI, 1)
    calm = NOW + 10 * MINUTE
    misses(guesses, SARI, 1, calm)
    assert again(guesses, SARI, calm) == calm + MINUTE
    misses(guesses, SARI, 10, calm + timedelta(hours=1))


def test_the_storm_passes() -> None:
    guesses = stormy()
    misses(guesses, SARI, 10, NOW + timedelta(hours=1))


def test_a_hundred_thousand_accounts_are_forgotten_once_they_rest() -> None:
    guesses = WrongCodeLimiter()
    for user in range(100_000):
        guesses.charge(user, NOW + user * timedelta(milliseconds=100))
    assert len(guesses._full_at) < 25_000

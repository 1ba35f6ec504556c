"""Codes can't be guessed: wrong codes are limited, right ones aren't, and nobody is locked out by others."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.orders.receipts.codes import Allowance, Refills, TooManyWrongCodes, WrongCodeLimits

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
EMMA, SARI = 1001, 1002


class Guesses:
    """What is left to each user, and to all users together."""

    def __init__(self, limits: WrongCodeLimits | None = None) -> None:
        self._limits = limits or WrongCodeLimits()
        self._full_at: dict[int, datetime] = {}
        self._all_full_at = NOW

    def charge(self, user: int, now: datetime) -> None:
        after = self._limits.charge(Refills(self._full_at.get(user, now), self._all_full_at), now)
        self._full_at[user], self._all_full_at = after.user_full_at, after.all_full_at


def charge_times(guesses: Guesses, user: int, times: int, now: datetime = NOW) -> None:
    for _ in range(times):
        guesses.charge(user, now)


def again(guesses: Guesses, user: int, now: datetime = NOW) -> datetime:
    """Return when a rejected user may try again."""
    with pytest.raises(TooManyWrongCodes) as refusal:
        guesses.charge(user, now)
    return refusal.value.again


def limiter_without_common_allowance(*, refilled_after: timedelta = timedelta(minutes=10)) -> Guesses:
    """Return a limiter whose common allowance was used up by other users."""
    guesses = Guesses(WrongCodeLimits(for_all_users=Allowance(20, refilled_after)))
    for stranger in range(20):
        guesses.charge(stranger, NOW)
    return guesses


def test_ten_misses_are_free_and_the_eleventh_says_when_it_is_possible() -> None:
    guesses = Guesses()
    charge_times(guesses, EMMA, 10)
    assert again(guesses, EMMA) == NOW + MINUTE
    assert again(guesses, EMMA, NOW + MINUTE / 2) == NOW + MINUTE
    charge_times(guesses, EMMA, 1, NOW + MINUTE)
    assert again(guesses, EMMA, NOW + MINUTE) == NOW + 2 * MINUTE


def test_one_attacker_locks_out_nobody_else() -> None:
    guesses = Guesses()
    charge_times(guesses, EMMA, 10)
    for _ in range(1000):
        again(guesses, EMMA)
    charge_times(guesses, SARI, 10)


def test_where_many_miss_together_each_may_miss_once_a_window() -> None:
    guesses = limiter_without_common_allowance()
    charge_times(guesses, SARI, 1)
    assert again(guesses, SARI) == NOW + 10 * MINUTE
    assert again(guesses, SARI, NOW + 9 * MINUTE) == NOW + 10 * MINUTE
    charge_times(guesses, SARI, 1, NOW + 10 * MINUTE)

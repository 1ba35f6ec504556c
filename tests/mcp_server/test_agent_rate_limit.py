"""The call limit of one bearer token, as arithmetic."""

from hypothesis import given
from hypothesis import strategies as st

from bot.mcp_server.http import MINUTE, CallLimit, LimitState

# Fractions that floats hold exactly: rounding isn't tested here.
moments = st.lists(st.integers(0, 300 * 1024).map(lambda part: part / 1024), max_size=200).map(sorted)


def test_calls_are_granted_until_the_limit_is_used_up_and_again_once_the_first_is_a_minute_old() -> None:
    calls = CallLimit(2)
    assert calls.take(100) == LimitState(is_granted=True, remaining=1, reset_seconds=60)
    assert calls.take(130.5) == LimitState(is_granted=True, remaining=0, reset_seconds=30)
    assert calls.take(140) == LimitState(is_granted=False, remaining=0, reset_seconds=20)
    assert calls.take(159.99) == LimitState(is_granted=False, remaining=0, reset_seconds=1)
    assert calls.take(160) == LimitState(is_granted=True, remaining=0, reset_seconds=31)


@given(moments, st.integers(1, 20))
def test_no_minute_ever_sees_more_than_the_limit(times: list[float], limit: int) -> None:
    calls = CallLimit(limit)
    granted = [time for time in times if calls.take(time).is_granted]
    for begin in granted:
        assert sum(begin <= time < begin + MINUTE for time in granted) <= limit


@given(moments, st.integers(1, 20))
def test_whoever_waits_as_long_as_told_is_let_in(times: list[float], limit: int) -> None:
    calls = CallLimit(limit)
    states = [calls.take(time) for time in times]
    if states and not states[-1].is_granted:
        assert 1 <= states[-1].reset_seconds <= MINUTE
        assert calls.take(times[-1] + states[-1].reset_seconds).is_granted


@given(moments, st.integers(1, 20))
def test_it_remembers_no_more_than_the_limit(times: list[float], limit: int) -> None:
    calls = CallLimit(limit)
    for time in times:
        assert 0 <= calls.take(time).remaining < limit
        assert len(calls._granted_at) <= limit

"""The call limit of one bearer token, as arithmetic."""

from hypothesis import given
from hypothesis import strategies as st

from bot.mcp_server.http.share import MINUTE, Share, Standing

# Fractions that floats hold exactly: rounding isn't tested here.
moments = st.lists(st.integers(0, 300 * 1024).map(lambda part: part / 1024), max_size=200).map(sorted)


def test_calls_are_granted_until_the_share_is_used_up_and_again_once_the_first_is_a_minute_old() -> None:
    share = Share(2)
    assert share.take(100) == Standing(granted=True, remaining=1, seconds=60)
    assert share.take(130.5) == Standing(granted=True, remaining=0, seconds=30)
    assert share.take(140) == Standing(granted=False, remaining=0, seconds=20)
    assert share.take(159.99) == Standing(granted=False, remaining=0, seconds=1)
    assert share.take(160) == Standing(granted=True, remaining=0, seconds=31)


@given(moments, st.integers(1, 20))
def test_no_minute_ever_sees_more_than_the_limit(times: list[float], limit: int) -> None:
    share = Share(limit)
    granted = [time for time in times if share.take(time).granted]
    for begin in granted:
        assert sum(begin <= time < begin + MINUTE for time in granted) <= limit


@given(moments, st.integers(1, 20))
def test_whoever_waits_as_long_as_told_is_let_in(times: list[float], limit: int) -> None:
    share = Share(limit)
    standings = [share.take(time) for time in times]
    if standings and not standings[-1].granted:
        assert 1 <= standings[-1].seconds <= MINUTE
        assert share.take(times[-1] + standings[-1].seconds).granted


@given(moments, st.integers(1, 20))
def test_it_remembers_no_more_than_the_limit(times: list[float], limit: int) -> None:
    share = Share(limit)
    for time in times:
        assert 0 <= share.take(time).remaining < limit
        assert len(share._taken) <= limit

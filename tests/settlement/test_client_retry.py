"""Reads are retried, politely and with a limit. Clock and random numbers are the test's."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.settlement.client import SettlementClient
from bot.settlement.errors import ServerError, SettlementFailure, SlowDown
from bot.settlement.http import RetryPolicy, Timeouts, parse_retry_after
from tests.settlement.raw_server import answers, closes, raw_server
from tests.waiting import TIMEOUT_SECONDS

KEY = "pk_live_abc.secret-part"
QUOTE = {"btcIdr": 1, "fetchedAt": "2026-11-21T09:00:00Z"}


@dataclass(slots=True)
class Time:
    """A clock that moves only when its `sleep` is called."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)
    oversleep: float = 0.0

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds + self.oversleep


def client_of(url: str, time: Time, chance: float = 1.0, retry: RetryPolicy | None = None) -> SettlementClient:
    return SettlementClient(
        url,
        KEY,
        retry=retry or RetryPolicy(),
        timeouts=Timeouts(*[TIMEOUT_SECONDS] * 4),
        sleep=time.sleep,
        clock=time.clock,
        chance=lambda: chance,
    )


async def test_a_read_outlives_three_failures_of_different_kinds() -> None:
    time = Time()
    async with (
        raw_server(answers(500), closes(), answers(200, "<html>"), answers(200, QUOTE)) as server,
        client_of(server.url, time) as client,
    ):
        assert (await client.quote()).btc_idr == 1
    assert time.slept == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("status", [400, 401, 404, 405, 302])
async def test_what_asking_again_cannot_change_is_asked_once(status: int) -> None:
    time = Time()
    async with raw_server(answers(status)) as server, client_of(server.url, time) as client:
        with pytest.raises(SettlementFailure):
            await client.quote()
        assert len(server.requests) == 1
    assert time.slept == []


async def test_a_caller_with_a_budget_of_its_own_asks_once() -> None:
    time = Time()
    async with raw_server(answers(500)) as server, client_of(server.url, time) as client:
        with pytest.raises(ServerError):
            await client.look_up("o1")
        with pytest.raises(ServerError):
            await client.newest()
        assert len(server.requests) == 2


async def test_retry_after_is_waited_out_and_a_little_more() -> None:
    time = Time()
    async with (
        raw_server(answers(429, retry_after="3"), answers(200, QUOTE)) as server,
        client_of(server.url, time, chance=0.5) as client,
    ):
        await client.quote()
    assert time.slept == [3.25]


async def test_retry_after_as_a_date_is_measured_by_the_services_clock() -> None:
    time = Time()
    limited = answers(503, date="Sat, 21 Nov 2026 03:00:00 GMT", retry_after="Sat, 21 Nov 2026 03:00:05 GMT")
    async with raw_server(limited, answers(200, QUOTE)) as server, client_of(server.url, time, chance=0.0) as client:
        await client.quote()
    assert time.slept == [5.0]


async def test_a_service_that_asks_for_a_long_rest_is_not_asked_sooner() -> None:
    time = Time()
    async with raw_server(answers(429, retry_after="3600")) as server, client_of(server.url, time) as client:
        with pytest.raises(SlowDown) as caught:
            await client.quote()
        assert len(server.requests) == 1
    assert caught.value.retry_after == 3600
    assert time.slept == []


async def test_no_attempt_begins_after_the_time_for_all_of_them() -> None:
    time = Time(oversleep=2.0)
    async with (
        raw_server(answers(500)) as server,
        client_of(server.url, time, retry=RetryPolicy(attempts=99, total=6.0)) as client,
    ):
        with pytest.raises(ServerError):
            await client.quote()
        assert len(server.requests) == 3
    assert time.slept == [0.5, 1.0]


NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("0", 0.0),
        (" 120 ", 120.0),
        ("9" * 5000, 999999999.0),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30.0),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),
        ("Sat, 99 Nov 2026 11:00:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_or_nothing(text: str | None, seconds: float | None) -> None:
    assert parse_retry_after(text, NOON) == seconds


@given(
    attempt=st.integers(1, 60),
    chance=st.floats(0, 1),
    told=st.one_of(st.none(), st.floats(0, 20)),
)
def test_a_pause_is_never_shorter_than_asked_nor_much_longer_than_the_longest(
    attempt: int, chance: float, told: float | None
) -> None:
    policy = RetryPolicy(attempts=61)
    pause = policy.pause(attempt, SlowDown(status=429, retry_after=told), chance)
    if told is not None and told > policy.longest_delay:
        assert pause is None
    else:
        assert pause is not None
        assert max(told or 0.0, policy.first_delay / 2) <= pause <= policy.longest_delay + policy.first_delay

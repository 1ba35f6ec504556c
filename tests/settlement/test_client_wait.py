"""Waiting for an order to end: when it is read, who is notified, and what ends the wait."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from bot.settlement.client import wait_for_order
from bot.settlement.errors import (
    KeyRefused,
    NeverReached,
    NoAnswer,
    NotCreated,
    NotUnderstood,
    OrderNotFound,
    OutcomeUnknown,
    ServerError,
    SettlementFailure,
    SlowDown,
    WaitAborted,
    WaitTimeout,
)
from tests.settlement.builders import a_report
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from bot.settlement.model import OrderReport


def in_state(state: str) -> OrderReport:
    return a_report("o1", state)


@dataclass(slots=True)
class Service:
    """Answer reads from a script, whose last line repeats. Time passes only during `sleep`."""

    script: list[str | SettlementFailure]
    read_takes: float = 0.0
    now: float = 0.0
    read_at: list[float] = field(default_factory=list)

    async def look_up(self, service_id: str) -> OrderReport:
        assert service_id == "o1"
        self.read_at.append(self.now)
        self.now += self.read_takes
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(answer, SettlementFailure):
            raise answer
        return in_state(answer)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.now += seconds

    def clock(self) -> float:
        return self.now


async def wait(service: Service, **options: Any) -> tuple[OrderReport, list[str]]:
    told: list[str] = []
    order = await wait_for_order(
        service,
        "o1",
        on_update=lambda order: told.append(order.state),
        clock=service.clock,
        sleep=service.sleep,
        **options,
    )
    return order, told


async def test_each_change_is_told_once_until_the_last() -> None:
    service = Service(["ROUTE_SHOWN", "ROUTE_SHOWN", "LN_INVOICE_PAID", "NOBODY_KNOWS", "NOBODY_KNOWS", "COMPLETED"])
    order, told = await wait(service)
    assert order.state == "COMPLETED"
    assert told == ["ROUTE_SHOWN", "LN_INVOICE_PAID", "NOBODY_KNOWS", "COMPLETED"]
    assert service.read_at == [0, 5, 10, 15, 20, 25]


@pytest.mark.parametrize("state", ["FAILED", "COMPLETED"])
async def test_an_order_that_has_ended_is_read_once(state: str) -> None:
    service = Service([state])
    order, told = await wait(service)
    assert order.is_terminal
    assert len(told) == len(service.read_at) == 1


@pytest.mark.parametrize("interval", [0.0, -3.0, 0.2, 1.0])
async def test_an_order_is_never_read_more_than_once_a_second(interval: float) -> None:
    service = Service(["IDLE", "IDLE", ServerError(status=500), "IDLE", "COMPLETED"])
    await wait(service, interval=interval)
    gaps = [later - earlier for earlier, later in zip(service.read_at, service.read_at[1:], strict=False)]
    assert min(gaps) >= 1


@pytest.mark.parametrize(
    "passing",
    [
        ServerError(status=500),
        ServerError(status=503),
        ServerError(status=502),
        NoAnswer(""),
        NeverReached(""),
        NotUnderstood("not JSON", status=200),
        SlowDown(status=429),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_failures_that_may_pass_are_outlived(passing: SettlementFailure) -> None:
    service = Service([passing, "IDLE", passing, passing, "COMPLETED"])
    order, told = await wait(service)
    assert order.state == "COMPLETED"
    assert told == ["IDLE", "COMPLETED"]


@pytest.mark.parametrize(
    "final", [OrderNotFound(status=404), KeyRefused(status=401), OutcomeUnknown(status=302), NotCreated(status=410)]
)
async def test_failures_that_waiting_cannot_mend_end_it(final: SettlementFailure) -> None:
    service = Service(["IDLE", final])
    with pytest.raises(type(final)):
        await wait(service)
    assert len(service.read_at) == 2


async def test_an_outage_is_met_with_longer_and_longer_pauses() -> None:
    service = Service([*[ServerError(status=500)] * 6, "IDLE", ServerError(status=500), "COMPLETED"])
    await wait(service)
    assert service.read_at == [0, 5, 15, 35, 75, 135, 195, 200, 205]


async def test_retry_after_is_honoured() -> None:
    service = Service([SlowDown(status=429, retry_after=90.0), "COMPLETED"])
    await wait(service)
    assert service.read_at == [0, 90]


async def test_a_rest_longer_than_the_time_left_ends_the_waiting_at_once() -> None:
    service = Service(["IDLE", SlowDown(status=429, retry_after=90.0), "COMPLETED"])
    with pytest.raises(WaitTimeout):
        await wait(service, timeout=60.0)
    assert service.read_at == [0, 5]


async def test_an_abort_ends_a_read_that_hangs() -> None:
    abort, was_cancelled = asyncio.Event(), asyncio.Event()

    class Hanging:
        async def look_up(self, service_id: str, *, retry: bool = True) -> OrderReport:  # noqa: ARG002
            abort.set()
            try:
                await asyncio.Event().wait()
            finally:
                was_cancelled.set()
            raise AssertionError

    with pytest.raises(WaitAborted):
        await asyncio.wait_for(wait_for_order(Hanging(), "o1", abort=abort), TIMEOUT_SECONDS)
    assert was_cancelled.is_set()

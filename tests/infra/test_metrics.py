"""The registry, what each process measures, and what was counted lately."""

import asyncio
import time

import pytest
from prometheus_client import CollectorRegistry

from bot.infra import metrics
from bot.infra.metrics import History, LoopLag
from tests.virtual_time import in_virtual_time

HOUR = 3600


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> CollectorRegistry:
    made = CollectorRegistry()
    monkeypatch.setattr(metrics, "REGISTRY", made)
    return made


class Seconds:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_every_series_exists_before_anything_is_counted() -> None:
    metrics.counter("kirim_things", "Things.", kind=("one", "two"), result=("good", "bad"))
    text = metrics.render().decode()
    assert text.count("\nkirim_things_total{") == 4
    assert 'kirim_things_total{kind="two",result="bad"} 0.0' in text
    assert "_created" not in text


async def test_recent_growth_forgets_what_is_older_than_an_hour() -> None:
    clock = Seconds()
    things = metrics.counter("kirim_things", "Things.", kind=("one", "two"))
    things.labels("one").inc(100)
    history = History(things, clock=clock)
    things.labels("one").inc(5)
    things.labels("two").inc(2)
    assert history.increase("kirim_things_total") == 7
    assert history.increase("kirim_things_total", kind="two") == 2
    for clock.now in range(60, HOUR + 120, 60):
        await history.record()
    assert history.increase("kirim_things_total") == 0
    things.labels("two").inc()
    assert history.increase("kirim_things_total") == 1


async def test_it_remembers_one_snapshot_a_minute_and_no_more_than_an_hour() -> None:
    clock = Seconds()
    history = History(metrics.counter("kirim_things", "Things."), clock=clock)
    for clock.now in range(0, 5 * HOUR, 60):
        assert await history.record() == 60
    assert len(history._snapshots) == 61


def test_quantiles_are_those_of_prometheus() -> None:
    answers = metrics.histogram("kirim_answer_seconds", "Answers.", (0.1, 0.2, 0.4))
    history = History(answers)
    assert history.quantile("kirim_answer_seconds", 0.5) is None
    for seconds in (0.05, 0.15, 0.15, 0.3):
        answers.observe(seconds)
    # Two of four are reached in the middle of the bucket from 0.1 to 0.2, which has the second and the third.
    assert history.quantile("kirim_answer_seconds", 0.5) == pytest.approx(0.15)
    assert history.quantile("kirim_answer_seconds", 0.75) == pytest.approx(0.2)
    assert history.quantile("kirim_answer_seconds", 1) == pytest.approx(0.4)
    answers.observe(60)
    assert history.quantile("kirim_answer_seconds", 0.99) == pytest.approx(0.4)


def test_quantiles_of_a_histogram_with_labels_are_those_of_all_together() -> None:
    waits = metrics.histogram("kirim_waits", "Waits.", (1, 2), kind=("a", "b"))
    history = History(waits)
    waits.labels("a").observe(0.5)
    waits.labels("b").observe(1.5)
    assert history.quantile("kirim_waits", 1) == pytest.approx(2)


@in_virtual_time
async def test_a_loop_that_runs_has_no_lag() -> None:
    lag = LoopLag()
    measuring = asyncio.create_task(lag.run())
    await asyncio.sleep(2 * LoopLag.INTERVAL_SECONDS + 0.1)
    assert lag.seconds == pytest.approx(0, abs=0.01)
    measuring.cancel()


async def test_a_blocked_loop_is_seen() -> None:
    lag = LoopLag()
    measuring = asyncio.create_task(lag.run())
    await asyncio.sleep(0)
    time.sleep(LoopLag.INTERVAL_SECONDS + 0.2)  # noqa: ASYNC251  the loop is to stand still
    await asyncio.sleep(0.01)
    assert lag.seconds >= 0.2
    measuring.cancel()

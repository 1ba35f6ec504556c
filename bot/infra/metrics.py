"""The metrics of this process, for Prometheus and for `/status`.

This module has the registry, and what every process measures. Each package declares its own metrics in its
`metrics.py`. Labels have few values: no chat, no user, no order and no text from outside.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from datetime import datetime
from itertools import pairwise, product
from typing import Final, NoReturn, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.metrics import MetricWrapperBase

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each counter and histogram, which nobody needs

REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

Metric = TypeVar("Metric", bound=MetricWrapperBase)
RefreshGauges = Callable[[], Awaitable[None]]
"""Reads what some gauges show, usually from the database, and sets them."""


def counter(name: str, description: str, **labels: Collection[str]) -> Counter:
    """Declare a counter. `labels` has the values of each label. Each series exists from the start, with 0."""
    return _create_series(Counter(name, description, tuple(labels), registry=REGISTRY), labels)


def gauge(name: str, description: str, **labels: Collection[str]) -> Gauge:
    """Declare a gauge. `labels` has the values of each label. Each series exists from the start, with 0."""
    return _create_series(Gauge(name, description, tuple(labels), registry=REGISTRY), labels)


def histogram(name: str, description: str, buckets: Collection[float], **labels: Collection[str]) -> Histogram:
    """Declare a histogram of seconds with these upper bounds. `labels` has the values of each label."""
    made = Histogram(name, description, tuple(labels), buckets=tuple(buckets), registry=REGISTRY)
    return _create_series(made, labels)


def open_gauge(name: str, description: str, *labels: str) -> Gauge:
    """Declare a gauge whose series come and go. Its package must keep their number small."""
    return Gauge(name, description, labels, registry=REGISTRY)


def _create_series(metric: Metric, labels: Mapping[str, Collection[str]]) -> Metric:
    if labels:
        for values in product(*labels.values()):
            metric.labels(*values)
    return metric


LEADING: Final = gauge(
    "kirim_leading", "1 while this process is the leader: the one that polls, asks the service and sends in bulk."
)
LAG: Final = histogram(
    "kirim_event_loop_lag_seconds",
    "How much later than asked the event loop ran a timer.",
    (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
REFRESH_FAILURES: Final = counter(
    "kirim_gauges_not_refreshed", "Requests for metrics that showed older values, because the database failed."
)
WORKER_FAILURES: Final = Counter(
    "kirim_worker_failures", "Rounds of a worker that failed and are tried again.", ("worker",), registry=REGISTRY
)


def _ignore(error: BaseException) -> None:
    del error


class Measurement:
    """Observes the seconds that a block takes, also if it fails. `on_error` is called with the error.

    It is a class, because a generator would take twice as long, and several run for each update.
    """

    __slots__ = ("_began", "_metric", "_on_error")

    def __init__(self, metric: Histogram, on_error: Callable[[BaseException], None] = _ignore) -> None:
        self._metric = metric
        self._on_error = on_error

    def __enter__(self) -> None:
        """Begin."""
        self._began = time.perf_counter()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Observe how long it took."""
        self._metric.observe(time.perf_counter() - self._began)
        if error is not None:
            self._on_error(error)


def seconds_since(moment: datetime | None, now: datetime) -> float:
    """Return the seconds from `moment` to `now`, or 0 if there is no such moment."""
    return 0.0 if moment is None else max((now - moment).total_seconds(), 0.0)


async def refresh(gauges: Iterable[RefreshGauges]) -> None:
    """Refresh gauges one after another.

    Raises:
        StoreDown: the database failed.
    """
    for each in gauges:
        await each()


def render() -> bytes:
    """Return all metrics in Prometheus's text format."""
    return generate_latest(REGISTRY)


class LoopLag:
    """Measures how late the event loop runs timers. While the loop is blocked, nothing else runs either."""

    INTERVAL_SECONDS: Final = 0.5

    def __init__(self) -> None:
        self._latest = 0.0

    @property
    def seconds(self) -> float:
        """The last measured lag."""
        return self._latest

    async def run(self) -> NoReturn:
        """Measure until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + self.INTERVAL_SECONDS
            await asyncio.sleep(self.INTERVAL_SECONDS)
            self._latest = max(loop.time() - due, 0.0)
            LAG.observe(self._latest)


Series = tuple[str, frozenset[tuple[str, str]]]
"""The name of a series, such as `kirim_answer_seconds_bucket`, and its labels."""


class History:
    """What some counters and histograms have counted lately. They only know their totals since the start.

    Args:
        metrics: what to remember.
        seconds: how far back. `record` must be called regularly.
        clock: monotonic seconds.
    """

    SNAPSHOT_SECONDS: Final = 60.0

    def __init__(
        self, *metrics: MetricWrapperBase, seconds: float = 3600.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._metrics = metrics
        self._seconds = seconds
        self._clock = clock
        self._snapshots: deque[tuple[float, Mapping[Series, float]]] = deque([(clock(), self._read())])

    async def record(self) -> float:
        """Remember the current totals. Return the seconds until the next time."""
        now = self._clock()
        self._snapshots.append((now, self._read()))
        while len(self._snapshots) > 1 and self._snapshots[1][0] <= now - self._seconds:
            self._snapshots.popleft()
        return self.SNAPSHOT_SECONDS

    def increase(self, name: str, **labels: str) -> float:
        """Return by how much the series with these labels have grown together."""
        wanted = labels.items()
        before, now = self._snapshots[0][1], self._read()
        return sum(
            value - before.get(series, 0.0)
            for series, value in now.items()
            if series[0] == name and wanted <= series[1]
        )

    def quantile(self, name: str, share: float) -> float | None:
        """Return a quantile of a histogram's recent values, or None if there are none.

        Like Prometheus's `histogram_quantile`, it assumes that values are spread evenly within a bucket. Above the last
        bucket it returns that bucket's bound.
        """
        before, now = self._snapshots[0][1], self._read()
        counts: dict[float, float] = {}
        for series, value in now.items():
            if series[0] == f"{name}_bucket":
                bound = float(dict(series[1])["le"])
                counts[bound] = counts.get(bound, 0.0) + value - before.get(series, 0.0)
        rank = share * counts.get(float("inf"), 0.0)
        if not rank:
            return None
        buckets = [(0.0, 0.0), *sorted(counts.items())]
        for (lower, below), (upper, up_to) in pairwise(buckets):
            if up_to >= rank:
                if upper == float("inf"):
                    return lower
                return lower + (upper - lower) * (rank - below) / (up_to - below)
        return None

    def _read(self) -> dict[Series, float]:
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for metric in self._metrics
            for family in metric.collect()
            for sample in family.samples
        }

"""Metrics for Prometheus: their first series, and how late the event loop is.

Each metric is an object of prometheus_client in the module that counts it. Gauges of the database's rows are in
`operations/gauges.py`. Labels have few values: no chat, no user, no order and no text from outside.
"""

import asyncio
from collections.abc import Iterable
from itertools import product
from typing import Final, NoReturn

from prometheus_client import Histogram, disable_created_metrics
from prometheus_client.metrics import MetricWrapperBase

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each counter and histogram, which nobody needs


def start_at_zero(metric: MetricWrapperBase, *values: Iterable[str]) -> None:
    """Create a series for each combination of these values of the labels. So the first event is an increase."""
    for each in product(*values):
        metric.labels(*each)


LAG: Final = Histogram(
    "kirim_event_loop_lag_seconds",
    "How much later than asked the event loop ran a timer.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)


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

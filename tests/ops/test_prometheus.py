"""A Prometheus with the configuration that ships reads the bot's metrics."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

import bot.infra.leases.leader  # noqa: F401  has the series that is read here
from bot.infra.http import ports, server
from bot.infra.http.health import create_metrics_app
from tests.ops import prometheus
from tests.ops.prometheus import Prometheus
from tests.waiting import found


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="Prometheus isn't installed")
@pytest.mark.process
async def test_prometheus_reads_the_metrics_of_all_bots_and_evaluates_the_alerts(tmp_path: Path) -> None:
    async with _bot() as first, _bot() as second, prometheus.running(tmp_path, first, second) as running:

        async def look() -> list[dict[str, str]]:
            return await running.query("kirim_leading")

        read = await found(look, lambda each: len(each) == 2, what="the metrics of both bots in Prometheus")
        labels = {(each["job"], each["instance"]) for each in read}
        assert labels == {("kirim", first), ("kirim", second)}
        assert len(await _alerts(running)) == prometheus.ALERTS.read_text(encoding="utf-8").count("- alert: ")


@asynccontextmanager
async def _bot() -> AsyncIterator[str]:
    """Serve metrics as a bot does. Yield its address."""
    listener = await ports.bind("127.0.0.1", 0)
    async with server.serve(create_metrics_app(partial(asyncio.sleep, 0)), listener):
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    listener.close()


async def _alerts(running: Prometheus) -> list[str]:
    """Return the names of the alerts that Prometheus evaluates."""
    groups = (await running.ask("rules", {}))["groups"]
    return [rule["name"] for group in groups for rule in group["rules"]]

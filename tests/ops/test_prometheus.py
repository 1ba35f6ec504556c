"""A Prometheus with the configuration that ships reads the bot's metrics."""

import shutil
from pathlib import Path

import pytest

from bot.infra.http import ports, server
from bot.infra.http.metrics import create_metrics_app
from tests.ops import prometheus
from tests.ops.prometheus import Prometheus, Series
from tests.waiting import found


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="Prometheus isn't installed")
@pytest.mark.process
async def test_prometheus_reads_the_metrics_and_evaluates_the_alerts(tmp_path: Path) -> None:
    listener = await ports.bind("127.0.0.1", 0)
    bot = f"127.0.0.1:{listener.getsockname()[1]}"
    async with server.serve(create_metrics_app(), listener), prometheus.running(tmp_path, bot) as running:

        async def look() -> list[Series]:
            return await running.query("kirim_leading")

        (series,) = await found(look, bool, what="the bot's metrics in Prometheus")
        assert (series.labels["job"], series.labels["instance"]) == ("kirim", bot)
        assert len(await _alerts(running)) == prometheus.ALERTS.read_text(encoding="utf-8").count("- alert: ")
    listener.close()


async def _alerts(running: Prometheus) -> list[str]:
    """Return the names of the alerts that Prometheus evaluates."""
    groups = (await running.ask("rules", {}))["groups"]
    return [rule["name"] for group in groups for rule in group["rules"]]

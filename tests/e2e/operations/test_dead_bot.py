"""The alert about a killed bot reaches the operators in Telegram, through Prometheus, Alertmanager and a second bot."""

import shutil
from pathlib import Path

import pytest

from bot.sandbox.telegram import ALERT_BOT_TOKEN
from tests.e2e.system import running_system
from tests.ops import alertmanager, prometheus
from tests.ops.test_alerts import ALERTS
from tests.ports import free_port
from tests.waiting import until

NAME = "KirimDown"
missing = [program for program in ("prometheus", alertmanager.PROGRAM) if shutil.which(program) is None]
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(missing), reason=f"{' and '.join(missing)} isn't installed"),
]


async def test_operators_hear_of_a_killed_bot_and_of_its_return(tmp_path: Path) -> None:
    metrics, address = (f"127.0.0.1:{free_port()}" for _ in range(2))
    async with (
        running_system(tmp_path, METRICS_PORT=metrics.partition(":")[2]) as kirim,
        prometheus.running(tmp_path / "prometheus", metrics, alertmanager=address, is_fast=True) as monitoring,
    ):
        oscar = kirim.oscar
        await oscar.says("/start")

        async def is_quiet() -> bool:
            alerts = await monitoring.query(f'ALERTS{{alertname="{NAME}"}}')
            return bool(await monitoring.query("kirim_leading == 1")) and not alerts

        await until(is_quiet, what="a leader in Prometheus")
        configuration = alertmanager.configure(kirim.addresses.page, ALERT_BOT_TOKEN, oscar.chat_id)
        async with alertmanager.running(tmp_path, address, configuration):
            await kirim.kill_bot()
            fired = await oscar.sees(NAME, anywhere=True)
            await kirim.start_bot()
            resolved = await oscar.sees(f"Resolved: {NAME}", anywhere=True)
        texts = ALERTS[NAME]["annotations"]
        shown = [f"🚨 Critical: {NAME}", texts["summary"], texts["description"], f"Runbook: {texts['runbook_url']}"]
        assert fired["text"] == "\n".join(shown)
        assert resolved["text"] == f"✅ Resolved: {NAME}\nIt was: {texts['summary']}"
        assert {each["from"]["username"] for each in (fired, resolved)} == {"kirim_alerts_sandbox_bot"}

"""A Prometheus with the project's configuration, for as long as it is needed."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.ports import free_port
from tests.waiting import until

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "ops" / "prometheus.yaml"
ALERTS = ROOT / "ops" / "alerts.yaml"
TARGETS = ROOT / "ops" / "targets.yaml"
ALERTMANAGERS = ROOT / "ops" / "alertmanagers.yaml"


class Prometheus:
    """A running Prometheus."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def query(self, expression: str) -> list[dict[str, str]]:
        """Evaluate an expression now. Return the labels of each series."""
        result = await self.ask("query", {"query": expression})
        return [each["metric"] for each in result["result"]]

    async def is_ready(self) -> bool:
        """Return whether it answers."""
        try:
            return (await self._http.get("/-/ready")).is_success
        except httpx.TransportError:
            return False

    async def ask(self, what: str, wanted: dict[str, Any]) -> Any:
        """Return the data of an answer of its HTTP API."""
        answer = await self._http.get(f"/api/v1/{what}", params=wanted)
        return answer.raise_for_status().json()["data"]


@asynccontextmanager
async def running(
    folder: Path, *bots: str, alertmanager: str | None = None, is_fast: bool = False
) -> AsyncIterator[Prometheus]:
    """Run Prometheus within the block. It reads the metrics of `bots`, and keeps its data in `folder`.

    It sends alerts to `alertmanager`. If it `is_fast`, it reads twice a second, and alerts wait for two.
    """
    configuration = _configure(folder, bots, alertmanager, is_fast=is_fast)
    address = f"127.0.0.1:{free_port()}"
    with (folder / "prometheus.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            "prometheus",
            f"--config.file={configuration}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={address}",
            stdout=log,
            stderr=log,
        )
    try:
        async with httpx.AsyncClient(base_url=f"http://{address}", timeout=30, trust_env=False) as http:
            made = Prometheus(http)
            await until(made.is_ready, what="Prometheus's start")
            yield made
    finally:
        process.terminate()
        await process.wait()


def replace_times(text: str, times: Mapping[str, str]) -> str:
    """Return a configuration with other times, by their key. Each key is in there."""
    for key, time in times.items():
        text, count = re.subn(rf"(?<=\b{key}: )\w+$", time, text, flags=re.MULTILINE)
        assert count, key
    return text


def _configure(folder: Path, bots: Sequence[str], alertmanager: str | None, *, is_fast: bool) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    targets = {TARGETS: list(bots), ALERTMANAGERS: [alertmanager] if alertmanager else []}
    for file, addresses in targets.items():
        (folder / file.name).write_text(yaml.safe_dump([{"targets": addresses}]), encoding="utf-8")
    times = {ALERTS: {"for": "2s"}, CONFIGURATION: {"scrape_interval": "500ms", "evaluation_interval": "500ms"}}
    for file, replaced in times.items():
        text = file.read_text(encoding="utf-8")
        (folder / file.name).write_text(replace_times(text, replaced) if is_fast else text, encoding="utf-8")
    return folder / CONFIGURATION.name

"""Caddy with the configuration of compose.yaml, in front of bots on this machine."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from tests.ops.compose import ROOT
from tests.ports import free_port
from tests.waiting import until

CONFIGURATION: Final = ROOT / "ops/compose/caddy/Caddyfile"
BOTS: Final = re.compile(r"(?<=reverse_proxy ).+(?= \{)")
"""The addresses of the bots in the configuration."""


@dataclass(frozen=True)
class Proxy:
    """A running proxy: its client, and the file with its log."""

    http: httpx.AsyncClient
    log: Path


def list_bots() -> list[str]:
    """Return the addresses of the bots in the configuration."""
    (found,) = BOTS.findall(CONFIGURATION.read_text(encoding="utf-8"))
    return str(found).split()


@asynccontextmanager
async def running(folder: Path, bots: Sequence[str], **times: str) -> AsyncIterator[Proxy]:
    """Run the proxy in front of `bots` within the block. `times` replace those of the configuration."""
    text = BOTS.sub(" ".join(bots), CONFIGURATION.read_text(encoding="utf-8"))
    for name, time in times.items():
        text, count = re.subn(rf"(?<=\b{name} )\w+", time, text)
        assert count == 1, name
    # Without its port for administration, which is the same for every Caddy.
    text = text.replace("{\n", "{\n\tadmin off\n", 1)
    configuration, log = folder / "Caddyfile", folder / "caddy.log"
    configuration.write_text(text, encoding="utf-8")
    address = f"http://127.0.0.1:{free_port()}"
    environment = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(folder), "PROXY_ADDRESS": address}
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *("caddy", "run", "--config", str(configuration), "--adapter", "caddyfile"),
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        async with httpx.AsyncClient(base_url=address, timeout=60, trust_env=False) as http:

            async def is_open() -> bool:
                try:
                    await http.get("/livez")
                except httpx.TransportError:
                    return False
                return True

            await until(is_open, what="Caddy's start")
            yield Proxy(http, log)
    finally:
        process.terminate()
        await process.wait()

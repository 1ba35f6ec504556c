"""Alertmanager with the configuration of compose.yaml, for as long as it is needed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx

from tests.ops.compose import ROOT
from tests.ops.prometheus import replace_times
from tests.waiting import until

PROGRAM: Final = "prometheus-alertmanager"
CONFIGURATION: Final = ROOT / "ops/compose/alertmanager/alertmanager.yaml"


def configure(bot_api: str, token: str, chat_id: int) -> str:
    """Return the configuration for another Bot API, without pauses.

    The token and the chat are written into it, because Debian's Alertmanager (0.25) doesn't read them from files.
    """
    text = CONFIGURATION.read_text(encoding="utf-8")
    replaced = {
        "bot_token_file: /tmp/alert_bot_token": f'bot_token: "{token}"',
        "chat_id_file: /tmp/alert_chat_id": f"chat_id: {chat_id}",
        "https://api.telegram.org": bot_api,
    }
    for shipped, used in replaced.items():
        assert text.count(shipped) == 1, shipped
        text = text.replace(shipped, used)
    return replace_times(text, {"group_wait": "100ms", "group_interval": "500ms"})


@asynccontextmanager
async def running(folder: Path, address: str, configuration: str) -> AsyncIterator[None]:
    """Run Alertmanager within the block. It listens at `address`, and keeps its data in `folder`."""
    file = folder / CONFIGURATION.name
    file.write_text(configuration, encoding="utf-8")
    with (folder / "alertmanager.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            f"--config.file={file}",
            f"--storage.path={folder / 'alertmanager'}",
            f"--web.listen-address={address}",
            "--cluster.listen-address=",
            stdout=log,
            stderr=log,
        )
    try:
        async with httpx.AsyncClient(base_url=f"http://{address}", timeout=30, trust_env=False) as http:

            async def is_ready() -> bool:
                try:
                    return (await http.get("/-/ready")).is_success
                except httpx.TransportError:
                    return False

            await until(is_ready, what="Alertmanager's start")
            yield
    finally:
        process.terminate()
        await process.wait()

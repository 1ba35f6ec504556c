"""Draw docs/dashboard.png.

    python -m tests.ops.dashboard_picture docs/dashboard.png --data FOLDER

A bot runs in a sandbox for some minutes (`sandbox_traffic.py`), and Prometheus reads its metrics as an operator's does.
Prometheus also evaluates the expressions of `ops/grafana.json`. Grafana isn't needed: `dashboard_page.py` draws the
same panels at the same places, and Chromium takes the picture.
"""

import argparse
import asyncio
import io
import logging
from pathlib import Path

import structlog
from PIL import Image

from tests.benchmarks.sandbox_system import open_system
from tests.harness import chromium
from tests.ops import dashboard_page, prometheus, sandbox_traffic
from tests.ports import free_port

WIDTH = 1600
AFTERWARDS_SECONDS = 40
"""So that the last messages are in the picture."""


async def record(folder: Path) -> None:
    """Run a bot and its users, and keep what Prometheus reads in `folder`."""
    async with open_system(telegram_limit="bulk") as system:
        port = free_port()
        system.environment["METRICS_PORT"] = str(port)
        async with system.bot(), prometheus.running(folder, f"127.0.0.1:{port}"):
            await sandbox_traffic.run(system)
            await asyncio.sleep(AFTERWARDS_SECONDS)


async def draw(folder: Path, picture: Path) -> None:
    """Draw the dashboard of what was recorded in `folder`."""
    nothing = f"127.0.0.1:{free_port()}"
    async with prometheus.running(folder, nothing) as running, chromium.chromium(chromium.find()) as browser:
        page = await browser.new_page(viewport={"width": WIDTH, "height": 800})
        await page.set_content(await dashboard_page.render(running, WIDTH))
        drawn = await page.screenshot(full_page=True)
    with Image.open(io.BytesIO(drawn)) as image:
        # A third of the size. This method keeps the colours of thin lines.
        small = image.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        small.save(picture, optimize=True)


async def main() -> None:
    """Draw what is in `--data`. Record it first if the folder is empty."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="the folder for what is recorded")
    options = parser.parse_args()
    if not (options.data / "data").exists():
        await record(options.data)
    await draw(options.data, options.picture)


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(main())

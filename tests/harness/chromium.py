"""Find the system's Chromium for the tests that open pages, and start it."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bot.sandbox.postgresql import install
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from playwright.async_api import Browser

VARIABLE = "CHROMIUM"
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The first is the same browser without its windows. A page costs about a sixth less there."""
PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "~/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "~/.cache/ms-playwright/chromium_headless_shell-*/chrome-*/*headless*shell",
    "~/.cache/ms-playwright/chromium-*/chrome-linux*/chrome",
    "~/Library/Caches/ms-playwright/chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium",
)
"""Where Chromium can be if it isn't on the PATH. The last three are downloads of Playwright."""
# Chromium uses only the last list of features, so this repeats what Playwright turns off, and below what it turns on.
TURNED_OFF_BY_PLAYWRIGHT = [
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
]
# Pages that Chromium loads for the address bar of each window, which cost time, and a spare process.
UNUSED_FEATURES = [
    "SpareRendererForSitePerProcess",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
]
# Playwright turns the first one on. The second saves a process, and a tenth of what a page costs.
TURNED_ON = ["CDPScreenshotNewSurface", "NetworkServiceInProcess2"]
ARGUMENTS = [
    f"--disable-features={','.join(TURNED_OFF_BY_PLAYWRIGHT + UNUSED_FEATURES)}",
    f"--enable-features={','.join(TURNED_ON)}",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class NoChromium(Exception):
    """No Chromium starts. The text says what was tried last."""


def find(environment: Mapping[str, str] = os.environ, places: Sequence[str] = PLACES) -> str:
    """Return the path of a working Chromium.

    Raises:
        NoChromium: there is none, or the one in `CHROMIUM` doesn't start.
    """
    if given := environment.get(VARIABLE):
        path = shutil.which(given, path=environment.get("PATH"))
        if path is None or not _starts(path):
            raise NoChromium(f"not usable ({given} doesn't start)")
        return path
    why = "not found"
    for path in _candidates(environment, places):
        if _starts(path):
            return path
        why = f"not usable ({path} doesn't start)"
    raise NoChromium(why)


def hint() -> str:
    """Return how to install Chromium on this system."""
    return f"{install('chromium', brew='--cask google-chrome')}, or name a program in {VARIABLE}."


def _candidates(environment: Mapping[str, str], places: Sequence[str]) -> Iterator[str]:
    yield from filter(None, (shutil.which(name, path=environment.get("PATH", os.defpath)) for name in NAMES))
    for place in places:
        pattern = place.replace("~", environment.get("HOME", ""), 1).lstrip("/")
        yield from (str(found) for found in sorted(Path("/").glob(pattern), reverse=True))


def _starts(path: str) -> bool:
    """Return whether the program prints its version. On some systems it is only a placeholder."""
    try:
        asked = subprocess.run([path, "--version"], capture_output=True, check=False, timeout=TIMEOUT_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return False
    return asked.returncode == 0


@asynccontextmanager
async def chromium(path: str) -> AsyncIterator[Browser]:
    """A headless Chromium without background requests."""
    # Importing Playwright takes a while, and most test processes never need it.
    from playwright.async_api import async_playwright, expect  # noqa: PLC0415

    expect.set_options(timeout=TIMEOUT_SECONDS * 1000)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            await browser.close()

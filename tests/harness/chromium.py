"""Find the system's Chromium for the tests that open pages, and start it."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.harness.postgresql import install
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from playwright.async_api import Browser

VARIABLE = "CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "~/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "~/.cache/ms-playwright/chromium-*/chrome-linux*/chrome",
    "~/Library/Caches/ms-playwright/chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium",
)
"""Where Chromium is when it isn't on the PATH; the last two are Playwright's own downloads."""
# Chromium takes the last list of features only, so what Playwright turns off is here again.
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
# Pages that Chromium loads for the address bar of each window, at the price of ours, and a process kept ready.
NEVER_SEEN = ["SpareRendererForSitePerProcess", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxPopup"]
ARGUMENTS = [
    f"--disable-features={','.join(TURNED_OFF_BY_PLAYWRIGHT + NEVER_SEEN)}",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class NoChromium(Exception):
    """There is no Chromium that starts; the text says what was tried last."""


def find(environment: Mapping[str, str] = os.environ, places: Sequence[str] = PLACES) -> str:
    """Return the path of a Chromium that starts.

    Raises:
        NoChromium: there is none, or `CHROMIUM` names one that doesn't start.
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
    """Say how to install Chromium here."""
    return f"{install('chromium', brew='--cask google-chrome')}, or name a program in {VARIABLE}."


def _candidates(environment: Mapping[str, str], places: Sequence[str]) -> Iterator[str]:
    yield from filter(None, (shutil.which(name, path=environment.get("PATH", os.defpath)) for name in NAMES))
    for place in places:
        pattern = place.replace("~", environment.get("HOME", ""), 1).lstrip("/")
        yield from (str(found) for found in sorted(Path("/").glob(pattern), reverse=True))


def _starts(path: str) -> bool:
    """Ask for its version: on some systems the program is only a note that says what to install."""
    try:
        asked = subprocess.run([path, "--version"], capture_output=True, check=False, timeout=TIMEOUT_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return False
    return asked.returncode == 0


@asynccontextmanager
async def chromium(path: str) -> AsyncIterator[Browser]:
    """A headless Chromium that calls nobody by itself."""
    # Importing Playwright takes a while, and most test processes never need it.
    from playwright.async_api import async_playwright, expect  # noqa: PLC0415

    expect.set_options(timeout=TIMEOUT_SECONDS * 1000)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            await browser.close()

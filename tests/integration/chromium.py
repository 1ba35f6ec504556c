"""Finds a Chromium of the system for tests that look at pages as people do."""

from __future__ import annotations

import os
import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import async_playwright

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser

NAMES = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
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


def find_chromium() -> str:
    """The program's path; skips the test where there is none, except in CI, which has to bring one."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and os.environ.get("CI"):
        pytest.fail("CI must install Chromium")
    if found is None:
        pytest.skip(f"no Chromium on this system (looked for {', '.join(NAMES)})")
    return found


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A headless Chromium that calls nobody by itself."""
    path = find_chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            await browser.close()

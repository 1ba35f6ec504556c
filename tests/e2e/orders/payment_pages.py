"""Wallet pages in end-to-end tests: their settings, their address, and a phone that shows one."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import Browser, Page, Request, expect

from tests.e2e.chat_user import ChatUser
from tests.pictures import qr_texts
from tests.ports import free_port
from tests.waiting import TIMEOUT_SECONDS

TOKEN = re.compile(r"/p/([A-Za-z0-9_-]{32})\?l=(en|id)$")


def page_settings() -> dict[str, str]:
    """Return the settings of a bot that serves wallet pages on its own port."""
    port = free_port()
    return {"PUBLIC_URL": f"http://127.0.0.1:{port}", "HTTP_PORT": str(port)}


async def page_address(user: ChatUser) -> str | None:
    """Return the address of the newest invoice's button."""
    photo = next(message for message in reversed(await user.messages()) if message.get("photo"))
    rows = (photo.get("reply_markup") or {}).get("inline_keyboard", [])
    addresses = [str(button["url"]) for row in rows for button in row if "url" in button]
    return addresses[0] if addresses else None


async def scan_qr_code(page: Page, selector: str = "img.qr") -> list[str]:
    """Read the QR codes in this picture of the page, after it has loaded."""
    code = page.locator(selector)
    await code.evaluate("image => image.decode()")
    return qr_texts(await code.screenshot())


@dataclass(slots=True)
class Phone:
    """A page on a small screen, and its errors."""

    page: Page
    troubles: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def sees(self, state: str) -> None:
        """Wait until the page shows this state without a reload."""
        await expect(self.page.locator(f'main[data-state="{state}"]')).to_be_visible()

    async def source(self) -> str:
        """Return the page's current HTML."""
        return await self.page.content()


@asynccontextmanager
async def open_phone(browser: Browser, *, scripts: bool = True, dark: bool = False) -> AsyncIterator[Phone]:
    """Open a phone of 360 by 640 points. At its end, assert no errors and no requests to other servers."""
    context = await browser.new_context(
        viewport={"width": 360, "height": 640},
        device_scale_factor=2,
        color_scheme="dark" if dark else "light",
        java_script_enabled=scripts,
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(TIMEOUT_SECONDS * 1000)
    made = Phone(await context.new_page())
    made.page.on("pageerror", lambda error: made.troubles.append(str(error)))
    made.page.on("console", lambda message: made.troubles.append(message.text))
    made.page.on("requestfailed", lambda request: _note_failure(made, request))
    made.page.on("request", lambda request: made.asked.append(request.url))
    yield made
    home = made.page.url.split("/p/", maxsplit=1)[0]
    assert made.troubles == [], made.troubles
    elsewhere = [url for url in made.asked if not url.startswith(f"{home}/")]
    assert elsewhere == [], elsewhere
    await context.close()


def _note_failure(shown: Phone, request: Request) -> None:
    # Chromium calls a 304 "aborted", because it has no body.
    if request.failure != "net::ERR_ABORTED" or "/state?" not in request.url:
        shown.troubles.append(f"{request.failure} {request.url}")

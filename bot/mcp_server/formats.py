"""Formats of answers: amounts and times in English (`Rp1,500,000`, `1,234 sats`), QR codes as pictures.

Answers are always in English. Agents read them and tell users in the users' language.
"""

import base64
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Final

from mcp_types import Icon, ImageContent

import bot
from bot.payments.qr import render_png_off_loop


def join_words(items: Iterable[str], last: str = "and") -> str:
    """Return the items as a sentence lists them: "a", "a and b", "a, b and c". `last` is the word before the last."""
    *others, end = items
    return f"{', '.join(others)} {last} {end}" if others else end


def format_rupiah(amount: int) -> str:
    """Format whole rupiah."""
    return f"Rp{amount:,}"


def format_sats(amount: int) -> str:
    """Format whole sats."""
    return f"{amount:,} sats"


def format_time(when: datetime) -> str:
    """Format a time in UTC."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


async def qr_code(payload: str) -> ImageContent:
    """Return a PNG for a wallet to scan, drawn in another thread."""
    png = await render_png_off_loop(payload)
    return ImageContent(type="image", data=base64.b64encode(png).decode(), mime_type="image/png")


TITLE: Final = "Kirim: send rupiah"
DESCRIPTION: Final = "Sends Indonesian rupiah to a bank account or e-wallet, paid in bitcoin over Lightning."
ICON_FILE: Final = Path(bot.__file__).parent / "orders/pay_page/static/icon.svg"


def load_icon() -> Icon:
    """Return the icon, as data. It is an SVG of 200 bytes, because newer clients get it with each answer."""
    data = base64.b64encode(ICON_FILE.read_bytes()).decode()
    return Icon(src=f"data:image/svg+xml;base64,{data}", mime_type="image/svg+xml", sizes=["any"])


def find_website() -> str | None:
    """Return the address of the repository, or None if the package was built without it, or isn't installed."""
    try:
        urls = metadata.metadata("kirim").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    named = dict(url.split(", ", 1) for url in urls)
    return named.get("Repository")

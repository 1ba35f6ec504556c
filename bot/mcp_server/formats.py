"""Formats of answers: amounts and times in English (`Rp1,500,000`, `1,234 sats`), QR codes as pictures.

Answers are always in English. Agents read them and tell users in the users' language.
"""

import base64
from collections.abc import Iterable
from datetime import UTC, datetime

from mcp_types import ImageContent

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

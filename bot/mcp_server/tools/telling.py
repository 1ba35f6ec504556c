"""How things look in an answer: sums and times in English words (`Rp1,500,000`, `1,234 sats`), QR codes as pictures.

Answers are in English whatever the user speaks: agents read them, and tell their users in their own language.
"""

import base64
from datetime import UTC, datetime

from mcp_types import ImageContent

from bot.payments.qr import render_png_off_loop


def rupiah(amount: int) -> str:
    """Whole rupiah."""
    return f"Rp{amount:,}"


def sats(amount: int) -> str:
    """Whole sats."""
    return f"{amount:,} sats"


def moment(when: datetime) -> str:
    """A time, in UTC."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


async def qr_code(payload: str) -> ImageContent:
    """A PNG for a wallet to scan, drawn beside the event loop."""
    png = await render_png_off_loop(payload)
    return ImageContent(type="image", data=base64.b64encode(png).decode(), mime_type="image/png")

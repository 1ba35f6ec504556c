"""QR codes that any wallet can scan: black on white, whole pixels per module, a full quiet zone.

Pillow and qrcode are imported by the functions that draw. So they are loaded in the thread that draws the first
picture, and not at the start: 25 ms and 5 MB.
"""

from __future__ import annotations

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

from bot.payments.errors import UnrenderableQr
from bot.payments.tokens import LIGHTNING_SCHEME

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["UnrenderableQr", "draw_closed", "invoice_qr_payload", "render", "render_png", "render_png_off_loop"]

QUIET_ZONE_MODULES = 4
MIN_SIDE_PX = 700

_SCHEME = LIGHTNING_SCHEME.upper()
_BLACK, _WHITE = 0, 255

# Trying all eight masks costs 10 to 20 ms per code without a benefit. zxing-cpp read 649 of 1,080 distorted pictures of
# invoices with this mask, and 640 with the best masks.
_MASK = 7

# One thread. With 200 codes requested at once, one thread uses a whole core and delays the loop by 5 ms (p99). Six
# threads compete for the interpreter and delay it by 94 ms. A warm process delays it by 1 to 4 ms, but costs 30 MB or
# more, and 0.1 s for the first code.
_RENDERER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="qr")


def invoice_qr_payload(bolt11: str) -> str:
    """Write an invoice in upper case, so that its QR code can use the compact alphanumeric mode."""
    return _SCHEME + bolt11.strip().upper().removeprefix(_SCHEME)


def render_png(payload: str, *, min_side_px: int = MIN_SIDE_PX) -> bytes:
    """Draw the payload as `render` does, as a PNG.

    Pure and synchronous: 4 to 9 ms of one core for an invoice of 255 to 600 characters.

    Raises:
        UnrenderableQr: the payload is too long (3,391 alphanumeric characters, 2,331 bytes).
    """
    file = io.BytesIO()
    # "optimize" would take 3 ms longer to save 100 of 2,200 bytes.
    render(payload, min_side_px=min_side_px).save(file, "PNG")
    return file.getvalue()


def render(payload: str, *, min_side_px: int = MIN_SIDE_PX) -> Image.Image:
    """Draw the payload as a square 1-bit picture with sides of at least `min_side_px`, quiet zone included.

    Raises:
        UnrenderableQr: the payload is too long (3,391 alphanumeric characters, 2,331 bytes).
    """
    from PIL import Image  # noqa: PLC0415  see the module

    modules = _modules(payload)
    side = len(modules)
    pixels = bytes(_BLACK if dark else _WHITE for row in modules for dark in row)
    scale = -(-min_side_px // side)
    picture = Image.frombytes("L", (side, side), pixels).convert("1", dither=Image.Dither.NONE)
    return picture.resize((side * scale, side * scale), Image.Resampling.NEAREST)


async def render_png_off_loop(payload: str) -> bytes:
    """Draw as `render_png` does, without blocking the event loop.

    Raises:
        UnrenderableQr: see `render_png`.
    """
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, render_png, payload)


def _modules(payload: str) -> list[list[bool]]:
    import qrcode  # noqa: PLC0415  see the module
    from qrcode.constants import ERROR_CORRECT_M  # noqa: PLC0415  likewise
    from qrcode.exceptions import DataOverflowError  # noqa: PLC0415  likewise

    code = qrcode.QRCode(error_correction=ERROR_CORRECT_M, border=QUIET_ZONE_MODULES, mask_pattern=_MASK)
    # optimize=0: one segment in one mode, which the simplest readers expect.
    code.add_data(payload, optimize=0)
    try:
        return [[bool(dark) for dark in row] for row in code.get_matrix()]
    except (DataOverflowError, ValueError):
        # Beyond version 40 the library fails its version check before it reports the length.
        raise UnrenderableQr(f"{len(payload)} characters are more than a QR code holds") from None


_SIDE = 320
_GROUND, _PAID, _CLOSED = (0xE3, 0xED, 0xE8), (0x1A, 0x7A, 0x45), (0x52, 0x60, 0x5A)
_CHECK_MARK = ((90, 165), (140, 215), (235, 110))
_CROSS = (((110, 110), (210, 210)), ((210, 110), (110, 210)))
_WIDTH = 22


@cache
def draw_closed(*, is_paid: bool) -> bytes:
    """Return a PNG with a check mark (paid) or a cross (closed).

    It replaces the QR code of a message that can no longer be deleted.
    """
    from PIL import Image, ImageDraw  # noqa: PLC0415  see the module

    picture = Image.new("RGB", (_SIDE, _SIDE), _GROUND)
    pen = ImageDraw.Draw(picture)
    if is_paid:
        pen.line(_CHECK_MARK, fill=_PAID, width=_WIDTH, joint="curve")
    else:
        for stroke in _CROSS:
            pen.line(stroke, fill=_CLOSED, width=_WIDTH)
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()

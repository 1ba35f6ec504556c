"""QR codes that any wallet's camera reads: sharp black on white, whole pixels a module, a full quiet zone."""

from __future__ import annotations

import asyncio
import io
from concurrent.futures import ThreadPoolExecutor

import qrcode
from PIL import Image
from qrcode.constants import ERROR_CORRECT_M
from qrcode.exceptions import DataOverflowError

from bot.payments.errors import UnrenderableQr

__all__ = ["UnrenderableQr", "invoice_qr_payload", "render_png", "render_png_off_loop"]

QUIET_ZONE_MODULES = 4
MIN_SIDE_PX = 700

_SCHEME = "LIGHTNING:"
_BLACK, _WHITE = 0, 255

# Trying all eight masks costs 10 to 20 ms more a code and gains nothing: of 1,080 turned, blurred, shrunk and
# JPEG-compressed pictures of invoices, zxing-cpp read 649 with this mask everywhere, and 640 with the best ones.
_MASK = 7

# A thread, and only one. With 200 codes asked for at once, one thread draws as many a second as a core can and
# keeps the loop waiting 5 ms (p99); six threads fight it for the interpreter (94 ms). A warm process keeps it
# waiting 1 to 4 ms, but costs 30 MB or more and 0.1 s for the first code: too much for work of 5 ms.
_RENDERER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="qr")


def invoice_qr_payload(bolt11: str) -> str:
    """Write an invoice as a QR code holds it best: upper case, so that the dense alphanumeric mode suffices."""
    return _SCHEME + bolt11.strip().upper().removeprefix(_SCHEME)


def render_png(payload: str, *, min_side_px: int = MIN_SIDE_PX) -> bytes:
    """Draw the payload as a square 1-bit PNG of at least `min_side_px` a side, quiet zone included.

    Pure and synchronous: 4 to 9 ms of one core for an invoice of 255 to 600 characters.

    Raises:
        UnrenderableQr: more than the largest code holds (3,391 alphanumeric characters, 2,331 bytes).
    """
    modules = _modules(payload)
    side = len(modules)
    pixels = bytes(_BLACK if dark else _WHITE for row in modules for dark in row)
    scale = -(-min_side_px // side)
    picture = Image.frombytes("L", (side, side), pixels).convert("1", dither=Image.Dither.NONE)
    picture = picture.resize((side * scale, side * scale), Image.Resampling.NEAREST)
    file = io.BytesIO()
    # "optimize" would take 3 ms longer to save 100 of 2,200 bytes.
    picture.save(file, "PNG")
    return file.getvalue()


async def render_png_off_loop(payload: str) -> bytes:
    """Draw as `render_png` does, without holding up the event loop.

    Raises:
        UnrenderableQr: see `render_png`.
    """
    return await asyncio.get_running_loop().run_in_executor(_RENDERER, render_png, payload)


def _modules(payload: str) -> list[list[bool]]:
    code = qrcode.QRCode(error_correction=ERROR_CORRECT_M, border=QUIET_ZONE_MODULES, mask_pattern=_MASK)
    # optimize=0: one segment in one mode, which is what the plainest readers expect.
    code.add_data(payload, optimize=0)
    try:
        return [[bool(dark) for dark in row] for row in code.get_matrix()]
    except (DataOverflowError, ValueError):
        # Beyond version 40 the library fails its own version check before it says what is wrong.
        raise UnrenderableQr(f"{len(payload)} characters are more than a QR code holds") from None

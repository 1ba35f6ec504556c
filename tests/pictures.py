"""Small pictures for tests."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING

import qrcode
import zxingcpp
from PIL import Image

from bot.infra.drawing.picture import CARD, COLOURS, Align, Canvas, Lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


def png(width: int, height: int, colour: str = "teal", mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.new(mode, (width, height), colour).save(out, "PNG")
    return out.getvalue()


def qr_png(content: str) -> bytes:
    out = io.BytesIO()
    qrcode.make(content, box_size=12).save(out)
    return out.getvalue()


def as_image(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def qr_texts(picture: Image.Image | bytes) -> list[str]:
    """Read the QR codes, as a wallet's camera does.

    Other codes are ignored: the noise in two of a thousand QR codes looks like a bar code.
    """
    image = as_image(picture) if isinstance(picture, bytes) else picture
    return [
        code.text
        for code in zxingcpp.read_barcodes(image, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))
    ]


@contextmanager
def inked(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[tuple[str, str]]]:
    """Yield the pairs (ink, ground) of the texts that are drawn within the block."""
    pairs, write = set[tuple[str, str]](), Canvas.write

    def keep(canvas: Canvas, lines: Lines, at: tuple[int, int], ink: str, ground: str = CARD, **more: Align) -> None:
        pairs.add((ink, ground))
        write(canvas, lines, at, ink, ground, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Canvas, "write", keep)
        yield pairs
    assert pairs


def contrast(ink: str, ground: str) -> float:
    """Return the contrast of two colours, as the guidelines for accessibility define it."""
    dark, light = sorted((_luminance(ink), _luminance(ground)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = (value / 255 for value in COLOURS[colour])
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue

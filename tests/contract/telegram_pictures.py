"""Small pictures for tests."""

from __future__ import annotations

import io

import qrcode
from PIL import Image


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

"""Small pictures for tests."""

from __future__ import annotations

import io

from PIL import Image


def png(width: int, height: int, colour: str = "teal", mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.new(mode, (width, height), colour).save(out, "PNG")
    return out.getvalue()

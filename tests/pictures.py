"""Small pictures for tests."""

from __future__ import annotations

import io

import qrcode
import zxingcpp
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


def qr_texts(picture: Image.Image | bytes) -> list[str]:
    """Read the QR codes, as a wallet's camera does.

    Other codes are ignored: the noise in two of a thousand QR codes looks like a bar code.
    """
    image = as_image(picture) if isinstance(picture, bytes) else picture
    return [
        code.text
        for code in zxingcpp.read_barcodes(image, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))
    ]

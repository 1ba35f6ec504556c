"""Draw the picture that replaces the QR code of a message that can no longer be deleted."""

from functools import cache
from io import BytesIO

from PIL import Image, ImageDraw

SIDE = 320
GROUND, PAID, CLOSED = (0xE3, 0xED, 0xE8), (0x1A, 0x7A, 0x45), (0x52, 0x60, 0x5A)
CHECK_MARK = ((90, 165), (140, 215), (235, 110))
CROSS = (((110, 110), (210, 210)), ((210, 110), (110, 210)))
WIDTH = 22


@cache
def draw_closed(*, is_paid: bool) -> bytes:
    """Return a PNG with a check mark (paid) or a cross (closed)."""
    picture = Image.new("RGB", (SIDE, SIDE), GROUND)
    pen = ImageDraw.Draw(picture)
    if is_paid:
        pen.line(CHECK_MARK, fill=PAID, width=WIDTH, joint="curve")
    else:
        for stroke in CROSS:
            pen.line(stroke, fill=CLOSED, width=WIDTH)
    file = BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()

"""The last part of a receipt: its code, how to have it checked, and a QR code that does so."""

import io
from typing import Final

from PIL import Image, ImageOps

from bot.infra.drawing.block import PASSAGE, SENTENCE, WORD, Block
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.glyphs import drawable
from bot.infra.drawing.palette import ACCENT, CARD, INK_2
from bot.infra.drawing.text_layout import Style, Weight, wrapped
from bot.orders.receipts.picture.blocks import LABEL, SMALL
from bot.orders.receipts.picture.facts import ReceiptFacts
from bot.orders.receipts.picture.layout import LEFT, RIGHT, TEXT_WIDTH
from bot.payments import qr

QR_SIDE: Final = 290
"""Pixels at least: a module of a link's code is then 7 or 8, which cameras still read at a third of that."""

_QR_GAP = 52
_CODE = Style(Weight.BOLD, 62, 92)
_CELL = 62


def proof(facts: ReceiptFacts) -> Block:
    """Label, code and hint below each other, and the QR code beside them."""
    picture = _modules(facts.verify_url) if facts.verify_url else None
    width = TEXT_WIDTH - (picture.width + _QR_GAP if picture else 0)
    label = wrapped(drawable(facts.code_label, SENTENCE), LABEL, width, 2)
    code = drawable(facts.code, WORD)
    hint = wrapped(drawable(facts.code_hint, PASSAGE), SMALL, width, 6)
    height = label.height + _CODE.leading + hint.height

    def draw(canvas: Canvas, top: int) -> None:
        if picture:
            canvas.paste_code(picture, (RIGHT - picture.width, top))
        canvas.write_lines(label, (LEFT, top), INK_2, CARD)
        _write_code(canvas, code, top + label.height, width)
        canvas.write_lines(hint, (LEFT, top + label.height + _CODE.leading), INK_2, CARD)

    return Block(max(height, picture.height if picture else 0), draw)


def _write_code(canvas: Canvas, code: str, top: int, width: int) -> None:
    """Write each character in the middle of a cell of its own, so that none is overlooked."""
    cell = min(_CELL, width / max(len(code), 1))
    style = Style(_CODE.weight, round(_CODE.size * cell / _CELL), _CODE.leading)
    # The first character begins where the lines above and below do.
    first = LEFT + style.width(code[:1]) / 2
    for place, character in enumerate(code):
        at = (round(first + place * cell), style.baseline(top))
        canvas.write(character, style, at, ACCENT, CARD, align="middle")


def _modules(url: str) -> Image.Image:
    """The QR code without its quiet zone: the card around it is as white, and wider."""
    picture = Image.open(io.BytesIO(qr.render_png(url, min_side_px=QR_SIDE))).convert("L")
    return picture.crop(ImageOps.invert(picture).getbbox())

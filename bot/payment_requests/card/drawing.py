"""Draw the card of a request as a PNG in the caller's thread. Only `off_loop.py` imports this module in the bot.

A chat shows the picture at a third of its width, so no text is smaller than 34 pixels. All measures are in pixels.
"""

from typing import Final

from PIL import Image, ImageOps

from bot.infra.drawing.block import MAX_LABEL, MAX_SENTENCE, Block, create_space
from bot.infra.drawing.brand import draw_brand
from bot.infra.drawing.canvas import Canvas
from bot.infra.drawing.glyphs import make_drawable
from bot.infra.drawing.palette import ACCENT, CARD, INK, INK_2, PAGE, SOFT
from bot.infra.drawing.text_layout import Style, Weight, fit_text, wrap_text
from bot.payment_requests.card.facts import CardFacts
from bot.payments import qr

WIDTH: Final = 1080
_CARD_LEFT, _CARD_RIGHT, _CARD_RADIUS = 40, WIDTH - 40, 48
_LEFT, _RIGHT = 108, WIDTH - 108
_TEXT_WIDTH: Final = _RIGHT - _LEFT
_MIDDLE: Final = WIDTH // 2
_PAGE_TOP, _PAGE_BOTTOM, _BRAND_GAP = 48, 44, 28
_CARD_TOP_GAP, _GAP, _CARD_BOTTOM = 52, 34, 52
_PANEL_RADIUS, _PANEL_X, _PANEL_Y = 28, 40, 26

_QR_SIDE: Final = 520
"""The least side of the QR code. A camera reads it from a screen, and from print."""

_TITLES = (Style(Weight.BOLD, 48, 64), Style(Weight.BOLD, 42, 56))
_AMOUNTS = tuple(Style(Weight.EXTRA_BOLD, size, round(size * 1.3)) for size in (120, 104, 88, 72))
_SUBTITLES = (Style(Weight.MEDIUM, 42, 58), Style(Weight.MEDIUM, 38, 52))
_NOTE = Style(Weight.MEDIUM, 40, 54)
_SMALL = Style(Weight.MEDIUM, 34, 48)


def draw_card(facts: CardFacts) -> bytes:
    """Draw a card as a PNG. Pure and synchronous. The same facts give the same bytes."""
    head, parts = draw_brand(facts.brand, _MIDDLE, _TEXT_WIDTH), _parts(facts)
    top = _PAGE_TOP + head.height + _BRAND_GAP
    bottom = top + sum(part.height for part in parts)
    canvas = Canvas(WIDTH, bottom + _PAGE_BOTTOM, PAGE)
    canvas.rounded((_CARD_LEFT, top, _CARD_RIGHT, bottom), _CARD_RADIUS, CARD, PAGE)
    head.draw(canvas, _PAGE_TOP)
    for part in parts:
        part.draw(canvas, top)
        top += part.height
    return canvas.png()


def _parts(facts: CardFacts) -> list[Block]:
    note = [_draw_note(facts.note), create_space(_GAP)] if facts.note else []
    return [
        create_space(_CARD_TOP_GAP),
        _draw_headline(facts),
        create_space(_GAP),
        *note,
        _draw_code(facts.link),
        create_space(_GAP),
        _draw_hint(facts.hint),
        create_space(_CARD_BOTTOM),
    ]


def _draw_headline(facts: CardFacts) -> Block:
    """Return who asks, for how much, and where it goes."""
    parts = (
        (fit_text(make_drawable(facts.title, MAX_SENTENCE), _TITLES, _TEXT_WIDTH, 3), ACCENT),
        (fit_text(make_drawable(facts.amount, MAX_LABEL), _AMOUNTS, _TEXT_WIDTH, 2), INK),
        (fit_text(make_drawable(facts.subtitle, MAX_SENTENCE), _SUBTITLES, _TEXT_WIDTH, 2), INK_2),
    )

    def draw(canvas: Canvas, top: int) -> None:
        for lines, ink in parts:
            canvas.write_lines(lines, (_MIDDLE, top), ink, CARD, align="middle")
            top += lines.height

    return Block(sum(lines.height for lines, _ in parts), draw)


def _draw_note(note: str) -> Block:
    lines = wrap_text(make_drawable(note, MAX_SENTENCE), _NOTE, _TEXT_WIDTH - 2 * _PANEL_X, 6)
    height = lines.height + 2 * _PANEL_Y

    def draw(canvas: Canvas, top: int) -> None:
        canvas.rounded((_LEFT, top, _RIGHT, top + height), _PANEL_RADIUS, SOFT, CARD)
        canvas.write_lines(lines, (_LEFT + _PANEL_X, top + _PANEL_Y), INK, SOFT)

    return Block(height, draw)


def _draw_code(link: str) -> Block:
    """Return the QR code without its quiet zone, because the white card around it is wider."""
    picture = qr.render(link, min_side_px=_QR_SIDE).convert("L")
    code: Image.Image = picture.crop(ImageOps.invert(picture).getbbox())
    return Block(code.height, lambda canvas, top: canvas.paste_code(code, (_MIDDLE - code.width // 2, top)))


def _draw_hint(hint: str) -> Block:
    lines = wrap_text(make_drawable(hint, MAX_SENTENCE), _SMALL, _TEXT_WIDTH, 3)
    return Block(
        lines.height, lambda canvas, top: canvas.write_lines(lines, (_MIDDLE, top), INK_2, CARD, align="middle")
    )

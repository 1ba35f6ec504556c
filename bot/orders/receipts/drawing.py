"""A receipt, from its headline to the code with which anyone can verify it.

Only `off_loop.py` imports this module in the bot, in the thread that draws.
"""

from typing import Final

from bot.infra.drawing.picture import (
    ACCENT,
    CARD,
    CARD_LEFT,
    CARD_RIGHT,
    INK,
    INK_2,
    LEFT,
    LINE,
    MIDDLE,
    PAGE,
    RIGHT,
    SENT,
    TEXT_WIDTH,
    Block,
    Canvas,
    Lines,
    Style,
    Weight,
    draw_check,
    draw_disc,
    draw_qr,
    fit,
    fit_fixed,
    make_drawable,
    render,
    stack,
    stack_with_gaps,
    text_block,
)
from bot.orders.receipts.picture import ReceiptFacts

LABEL: Final = Style(Weight.MEDIUM, 36, 50)
SMALL: Final = Style(Weight.MEDIUM, 34, 48)
_TITLES = (Style(Weight.BOLD, 48, 64), Style(Weight.BOLD, 42, 56))
_AMOUNTS = tuple(Style(Weight.EXTRA_BOLD, size, round(size * 1.3)) for size in (136, 120, 104, 88, 72))
_SUBTITLES = (Style(Weight.MEDIUM, 42, 58), Style(Weight.MEDIUM, 38, 52))
_VALUES = (Style(Weight.BOLD, 38, 50), Style(Weight.BOLD, 36, 50))

_BADGE, _BADGE_RING, _TICK = 152, 18, 17
_BADGE_HALF = _BADGE // 2 + _BADGE_RING
"""The height of the badge's part above the card's upper edge, and of the one below."""

_NOTCH = 26
_DASH, _DASH_GAP, _DASH_THICKNESS = 14, 11, 3
_LABEL_SHARE = 0.42
_ROW_GAP, _COLUMN_GAP = 26, 36
_BADGE_GAP, _PERFORATION_GAP, _PART_GAP, _CARD_BOTTOM = 8, 26, 38, 60

QR_SIDE: Final = 290
"""The least side of the QR code. A module is then 7 or 8 pixels, which cameras still read at a third of the size."""

_QR_GAP = 52
_CODE = Style(Weight.BOLD, 62, 92)
_CELL, _MAX_CODE = 62, 80


def render_receipt(facts: ReceiptFacts) -> bytes:
    """Draw a receipt as a PNG, as high as its text needs. The same facts give the same bytes.

    Raises:
        UnrenderableQr: `verify_url` is longer than a QR code can hold (2,331 bytes).
    """
    explanation = fit_fixed(facts.explanation, SMALL, TEXT_WIDTH, 10)
    rows = stack_with_gaps(_ROW_GAP, [_row(label, value) for label, value in facts.rows])
    card = stack(
        Block(_BADGE_HALF, _draw_badge),
        Block(_BADGE_GAP),
        text_block(fit_fixed(facts.title, _TITLES, TEXT_WIDTH, 2), MIDDLE, SENT, "middle"),
        text_block(fit(facts.amount, _AMOUNTS, TEXT_WIDTH, 4), MIDDLE, INK, "middle"),
        text_block(fit(facts.subtitle, _SUBTITLES, TEXT_WIDTH, 3), MIDDLE, INK_2, "middle"),
        _PERFORATION,
        stack_with_gaps(_PART_GAP, [rows, text_block(explanation, LEFT, INK_2)]),
        _PERFORATION,
        _proof(facts),
        Block(_CARD_BOTTOM),
    )
    return render(facts.brand, card, above=_BADGE_HALF)


def _draw_badge(canvas: Canvas, top: int) -> None:
    """Draw the tick on the card's upper edge. Half of it is above its block."""
    ring = _BADGE + 2 * _BADGE_RING
    above = draw_disc(ring).crop((0, 0, ring, ring // 2))
    canvas.draw_shape(above, (MIDDLE - ring // 2, top - ring // 2), CARD, PAGE)
    at = (MIDDLE - _BADGE // 2, top - _BADGE // 2)
    canvas.draw_shape(draw_disc(_BADGE), at, SENT)
    canvas.draw_shape(draw_check(_BADGE, _TICK), at, CARD, SENT)


def _draw_perforation(canvas: Canvas, top: int) -> None:
    """Draw a dashed line between two notches."""
    notch = draw_disc(2 * _NOTCH)
    canvas.draw_shape(notch.crop((_NOTCH, 0, 2 * _NOTCH, 2 * _NOTCH)), (CARD_LEFT, top), PAGE)
    canvas.draw_shape(notch.crop((0, 0, _NOTCH, 2 * _NOTCH)), (CARD_RIGHT - _NOTCH, top), PAGE)
    line = top + _NOTCH - _DASH_THICKNESS // 2
    for x in range(LEFT, RIGHT - _DASH + 1, _DASH + _DASH_GAP):
        canvas.fill((x, line, x + _DASH, line + _DASH_THICKNESS), LINE)


_PERFORATION: Final = stack(Block(_PERFORATION_GAP), Block(2 * _NOTCH, _draw_perforation), Block(_PERFORATION_GAP))


def _row(label: str, value: str) -> Block:
    """Return a fact, with its label on the left and its value on the right."""
    named = fit_fixed(label, LABEL, round(TEXT_WIDTH * _LABEL_SHARE), 3)
    shown = fit(value, _VALUES, TEXT_WIDTH - round(named.width) - _COLUMN_GAP, 4)

    def draw(canvas: Canvas, top: int) -> None:
        canvas.write(named, (LEFT, top), INK_2)
        canvas.write(shown, (RIGHT, top), INK, align="right")

    return Block(max(named.height, shown.height), draw)


def _proof(facts: ReceiptFacts) -> Block:
    """Return the code with its label and hint, and the QR code beside them."""
    picture = draw_qr(facts.verify_url, QR_SIDE) if facts.verify_url else None
    width = TEXT_WIDTH - (picture.width + _QR_GAP if picture else 0)
    texts = stack(
        text_block(fit_fixed(facts.code_label, LABEL, width, 2), LEFT, INK_2),
        _code(make_drawable(facts.code, _MAX_CODE), width),
        text_block(fit_fixed(facts.code_hint, SMALL, width, 6), LEFT, INK_2),
    )

    def draw(canvas: Canvas, top: int) -> None:
        if picture:
            canvas.paste_code(picture, (RIGHT - picture.width, top))
        texts.draw(canvas, top)

    return Block(max(texts.height, picture.height if picture else 0), draw)


def _code(code: str, width: int) -> Block:
    """Return a code with each character in the middle of its own cell, so that none is overlooked."""
    cell = min(_CELL, width / max(len(code), 1))
    style = Style(_CODE.weight, round(_CODE.size * cell / _CELL), _CODE.leading)
    # The first character is aligned with the lines above and below.
    first = LEFT + style.width(code[:1]) / 2

    def draw(canvas: Canvas, top: int) -> None:
        for place, character in enumerate(code):
            line = Lines(style, (character,), is_fixed=True)
            canvas.write(line, (round(first + place * cell), top), ACCENT, align="middle")

    return Block(_CODE.leading, draw)

"""A receipt, from its headline to the code with which anyone can verify it.

Only `service.py` imports this module in the bot, in the thread that draws.
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
    beside_qr,
    draw_check,
    draw_disc,
    fill_card,
    fit,
    fit_fixed,
    make_drawable,
    render,
    stack,
    stack_with_gaps,
    text_block,
)
from bot.orders.receipts.screens import ReceiptFacts

SMALL: Final = Style(Weight.MEDIUM, 34, 46)
_TITLES = tuple(Style(Weight.BOLD, size, 80) for size in (54, 46, 40))
_AMOUNTS = tuple(Style(Weight.EXTRA_BOLD, size, 144) for size in (124, 108, 92, 76))
_SUBTITLES = tuple(Style(Weight.MEDIUM, size, 54) for size in (42, 38))
_VALUES = tuple(Style(Weight.BOLD, size, 48) for size in (38, 36))
_PLACES = (Style(Weight.BOLD, 36, 48), SMALL)

_BADGE, _BADGE_GAP, _TICK = 60, 20, 7
_NOTCH = 26
_DASH, _DASH_GAP, _DASH_THICKNESS = 14, 11, 3
_LABEL_SHARE = 0.55
_ROW_GAP, _COLUMN_GAP, _LANGUAGE_GAP = 14, 30, 12

QR_SIDE: Final = 264
"""The least side of the QR code. Its modules are still read at a third of the size."""

_CODE = Style(Weight.BOLD, 62, 76)
_CELL, _MAX_CODE = 62, 80


def render_receipt(facts: ReceiptFacts) -> bytes:
    """Draw a receipt as a PNG of 4:5, so that no chat cuts it. The same facts give the same bytes.

    Raises:
        UnrenderableQr: `verify_url` is longer than a QR code can hold (2,331 bytes).
    """
    meanings = [fit_fixed(each, SMALL, TEXT_WIDTH, 3) for each in facts.meanings]
    card = fill_card(
        stack(
            _title(facts.title),
            text_block(fit(facts.amount, _AMOUNTS, TEXT_WIDTH), MIDDLE, INK, "middle"),
            text_block(fit(facts.recipient, _SUBTITLES, TEXT_WIDTH, 2), MIDDLE, INK_2, "middle"),
        ),
        Block(2 * _NOTCH, _draw_perforation),
        stack_with_gaps(_ROW_GAP, [_row(label, value) for label, value in facts.rows]),
        stack_with_gaps(_LANGUAGE_GAP, [text_block(each, LEFT, INK_2) for each in meanings]),
        beside_qr(facts.verify_url, QR_SIDE, lambda width: _proof(facts, width)),
    )
    return render(facts.brand, card)


def _title(title: str) -> Block:
    """Return the title with a tick before it."""
    lines = fit_fixed(title, _TITLES, TEXT_WIDTH - _BADGE - _BADGE_GAP, 1)
    left = MIDDLE - round(_BADGE + _BADGE_GAP + lines.width) // 2

    def draw(canvas: Canvas, top: int) -> None:
        at = (left, top + (lines.height - _BADGE) // 2)
        canvas.draw_shape(draw_disc(_BADGE), at, SENT)
        canvas.draw_shape(draw_check(_BADGE, _TICK), at, CARD, SENT)
        canvas.write(lines, (left + _BADGE + _BADGE_GAP, top), SENT)

    return Block(lines.height, draw)


def _draw_perforation(canvas: Canvas, top: int) -> None:
    """Draw a dashed line between two notches."""
    notch = draw_disc(2 * _NOTCH)
    canvas.draw_shape(notch.crop((_NOTCH, 0, 2 * _NOTCH, 2 * _NOTCH)), (CARD_LEFT, top), PAGE)
    canvas.draw_shape(notch.crop((0, 0, _NOTCH, 2 * _NOTCH)), (CARD_RIGHT - _NOTCH, top), PAGE)
    line = top + _NOTCH - _DASH_THICKNESS // 2
    for x in range(LEFT, RIGHT - _DASH + 1, _DASH + _DASH_GAP):
        canvas.fill((x, line, x + _DASH, line + _DASH_THICKNESS), LINE)


def _row(label: str, value: str) -> Block:
    """Return a fact, with its label on the left and its value on the right."""
    named = fit_fixed(label, SMALL, round(TEXT_WIDTH * _LABEL_SHARE), 1)
    shown = fit(value, _VALUES, TEXT_WIDTH - round(named.width) - _COLUMN_GAP)

    def draw(canvas: Canvas, top: int) -> None:
        canvas.write(named, (LEFT, top), INK_2)
        canvas.write(shown, (RIGHT, top), INK, align="right")

    return Block(max(named.height, shown.height), draw)


def _proof(facts: ReceiptFacts, width: int) -> Block:
    """Return the code, its label above it, and where it is checked below."""
    return stack(
        text_block(fit_fixed(facts.code_label, SMALL, width, 2), LEFT, INK_2),
        _code(make_drawable(facts.code, _MAX_CODE), width),
        text_block(fit_fixed(facts.place, _PLACES, width, 3), LEFT, INK),
    )


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

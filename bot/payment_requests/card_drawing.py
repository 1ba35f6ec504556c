"""The card of a request: who asks, for how much, and a QR code.

Only `notifications.py` imports this module in the bot, in the thread that draws.
"""

from typing import Final

from bot.infra.drawing.picture import (
    ACCENT,
    INK,
    INK_2,
    LEFT,
    MIDDLE,
    RIGHT,
    SOFT,
    TEXT_WIDTH,
    Block,
    Canvas,
    Style,
    Weight,
    draw_qr,
    fit,
    render,
    stack,
    text_block,
)
from bot.payment_requests.card import CardFacts

_TOP_GAP, _GAP, _BOTTOM_GAP = 52, 34, 52
_PANEL_RADIUS, _PANEL_X, _PANEL_Y = 28, 40, 26

_QR_SIDE: Final = 520
"""The least side of the QR code. A camera reads it from a screen, and from print."""

_TITLES = (Style(Weight.BOLD, 48, 64), Style(Weight.BOLD, 42, 56))
_AMOUNTS = tuple(Style(Weight.EXTRA_BOLD, size, round(size * 1.3)) for size in (120, 104, 88, 72))
_SUBTITLES = (Style(Weight.MEDIUM, 42, 58), Style(Weight.MEDIUM, 38, 52))
_NOTE = Style(Weight.MEDIUM, 40, 54)
_SMALL = Style(Weight.MEDIUM, 34, 48)


def draw_card(facts: CardFacts) -> bytes:
    """Draw a card as a PNG. The same facts give the same bytes."""
    code = draw_qr(facts.link, _QR_SIDE)
    card = stack(
        Block(_TOP_GAP),
        text_block(fit(facts.title, _TITLES, TEXT_WIDTH, 3), MIDDLE, ACCENT, "middle"),
        text_block(fit(facts.amount, _AMOUNTS, TEXT_WIDTH, 2), MIDDLE, INK, "middle"),
        text_block(fit(facts.subtitle, _SUBTITLES, TEXT_WIDTH, 2), MIDDLE, INK_2, "middle"),
        Block(_GAP),
        *([_note(facts.note), Block(_GAP)] if facts.note else []),
        Block(code.height, lambda canvas, top: canvas.paste_code(code, (MIDDLE - code.width // 2, top))),
        Block(_GAP),
        text_block(fit(facts.hint, _SMALL, TEXT_WIDTH, 3), MIDDLE, INK_2, "middle"),
        Block(_BOTTOM_GAP),
    )
    return render(facts.brand, card)


def _note(note: str) -> Block:
    lines = fit(note, _NOTE, TEXT_WIDTH - 2 * _PANEL_X, 6)
    height = lines.height + 2 * _PANEL_Y

    def draw(canvas: Canvas, top: int) -> None:
        canvas.rounded((LEFT, top, RIGHT, top + height), _PANEL_RADIUS, SOFT)
        canvas.write(lines, (LEFT + _PANEL_X, top + _PANEL_Y), INK, SOFT)

    return Block(height, draw)

"""The card of a request: who asks, for how much, and a QR code. It is a picture for chats, or a page for print.

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
    beside_qr,
    draw_qr,
    fill_card,
    fit,
    fit_fixed,
    render,
    render_for_print,
    stack,
    stack_with_gaps,
    text_block,
)
from bot.payment_requests.screens import CardFacts

_LANGUAGE_GAP = 20
_PANEL_RADIUS, _PANEL_X, _PANEL_Y = 28, 40, 20

_QR_SIDE: Final = 440
"""The least side of the QR code. A camera reads it from a screen, and from print."""

_HOLDERS = tuple(Style(Weight.BOLD, size, 64) for size in (48, 42, 36))
_PRINTED_QR_SIDE: Final = 640
_PRINTED_HOLDERS = tuple(Style(Weight.EXTRA_BOLD, size, round(size * 1.2)) for size in (96, 80, 64, 52))
_STEPS = tuple(Style(Weight.BOLD, size, 66) for size in (52, 44))
_AMOUNTS = tuple(Style(Weight.EXTRA_BOLD, size, round(size * 1.3)) for size in (120, 104, 88, 72, 52))
_SUBTITLES = tuple(Style(Weight.MEDIUM, size, 54) for size in (42, 38))
_NOTE = Style(Weight.MEDIUM, 40, 50)
_SMALL = Style(Weight.MEDIUM, 34, 46)


def draw_card(facts: CardFacts) -> bytes:
    """Draw a card as a PNG of 4:5, so that no chat cuts it. The same facts give the same bytes."""
    card = fill_card(
        stack(
            text_block(fit(facts.holder, _HOLDERS, TEXT_WIDTH), MIDDLE, ACCENT, "middle"),
            text_block(fit_fixed(facts.title, _SMALL, TEXT_WIDTH, 1), MIDDLE, INK_2, "middle"),
            text_block(fit(facts.amount, _AMOUNTS, TEXT_WIDTH, 2), MIDDLE, INK, "middle"),
            text_block(fit(facts.subtitle, _SUBTITLES, TEXT_WIDTH, 2), MIDDLE, INK_2, "middle"),
        ),
        *([_note(facts.note)] if facts.note else []),
        beside_qr(facts.link, _QR_SIDE, lambda width: _hints(facts, width)),
    )
    return render(facts.brand, card)


def draw_for_print(facts: CardFacts, width_mm: int) -> bytes:
    """Draw a card as a PDF of an A size, for a counter or a table: the name, a large QR code, and the steps."""
    code = draw_qr(facts.link, _PRINTED_QR_SIDE)
    blocks = (
        text_block(fit(facts.holder, _PRINTED_HOLDERS, TEXT_WIDTH, 2), MIDDLE, INK, "middle"),
        stack(
            text_block(fit(facts.amount, _HOLDERS, TEXT_WIDTH, 1), MIDDLE, ACCENT, "middle"),
            text_block(fit(facts.note, _SUBTITLES, TEXT_WIDTH, 2), MIDDLE, INK_2, "middle"),
        ),
        Block(code.height, lambda canvas, top: canvas.paste_code(code, (MIDDLE - code.width // 2, top))),
        stack(*(text_block(fit_fixed(each, _STEPS, TEXT_WIDTH, 2), MIDDLE, INK, "middle") for each in facts.steps)),
    )
    return render_for_print(facts.brand, blocks, width_mm)


def _hints(facts: CardFacts, width: int) -> Block:
    hints = [fit_fixed(each, _SMALL, width, 5) for each in facts.hints]
    return stack_with_gaps(_LANGUAGE_GAP, [text_block(each, LEFT, INK_2) for each in hints])


def _note(note: str) -> Block:
    lines = fit(note, _NOTE, TEXT_WIDTH - 2 * _PANEL_X, 5)
    height = lines.height + 2 * _PANEL_Y

    def draw(canvas: Canvas, top: int) -> None:
        canvas.rounded((LEFT, top, RIGHT, top + height), _PANEL_RADIUS, SOFT)
        canvas.write(lines, (LEFT + _PANEL_X, top + _PANEL_Y), INK, SOFT)

    return Block(height, draw)

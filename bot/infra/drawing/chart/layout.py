"""Measures (pixels) and colours of a chart.

Chats show the picture at a third of its width, so no text is smaller than 34 pixels.
"""

from typing import Final

from bot.infra.drawing.palette import ACCENT, CARD, COLOURS, INK, INK_2, LINE, PAGE, SENT, SOFT, Palette
from bot.infra.drawing.text_layout import Style, Weight

WIDTH: Final = 1080
CARD_LEFT: Final = 28
CARD_RIGHT: Final = WIDTH - CARD_LEFT
LEFT: Final = 80
"""The left edge of text. `RIGHT` is the other edge."""
RIGHT: Final = WIDTH - LEFT
TEXT_WIDTH: Final = RIGHT - LEFT
PLOT_HEIGHT: Final = 420

SMALL: Final = Style(Weight.MEDIUM, 34, 46)

AREA: Final = "area"
FALLEN: Final = "fallen"
RISEN_GROUND: Final = "risen-ground"
FALLEN_GROUND: Final = "fallen-ground"

CHART_COLOURS: Final = {
    **COLOURS,
    AREA: (0xC4, 0xE3, 0xDA),
    FALLEN: (0xB3, 0x2D, 0x2D),
    RISEN_GROUND: (0xE0, 0xF2, 0xE7),
    FALLEN_GROUND: (0xFB, 0xE6, 0xE4),
}
CHART_PAIRS: Final = (
    (CARD, PAGE),
    (ACCENT, CARD),
    (CARD, ACCENT),
    (INK, CARD),
    (INK_2, CARD),
    (LINE, CARD),
    (AREA, CARD),
    (CARD, SOFT),
    (SOFT, CARD),
    (ACCENT, SOFT),
    (INK_2, SOFT),
    (RISEN_GROUND, CARD),
    (SENT, RISEN_GROUND),
    (FALLEN_GROUND, CARD),
    (FALLEN, FALLEN_GROUND),
)
"""All pairs (ink, background) of a chart."""

CHART: Final = Palette(CHART_COLOURS, CHART_PAIRS)

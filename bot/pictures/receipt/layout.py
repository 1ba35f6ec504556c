"""The measures that all parts of a receipt share, in pixels, and what a part is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.pictures.canvas import Canvas

WIDTH: Final = 1080
CARD_LEFT: Final = 40
CARD_RIGHT: Final = WIDTH - CARD_LEFT
LEFT: Final = 108
"""Where text begins; it ends at `RIGHT`."""
RIGHT: Final = WIDTH - LEFT
TEXT_WIDTH: Final = RIGHT - LEFT
MIDDLE: Final = WIDTH // 2

WORD: Final = 80
SENTENCE: Final = 200
PASSAGE: Final = 600
"""Characters that are looked at at all, so that no text takes time or room without end."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the receipt: measured first, then drawn with its upper edge at the place it is given."""

    height: int
    draw: Callable[[Canvas, int], None]


def space(height: int) -> Block:
    """Nothing."""
    return Block(height, lambda _canvas, _top: None)

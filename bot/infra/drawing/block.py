"""What a picture is put together from, top to bottom."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.infra.drawing.canvas import Canvas

WORD: Final = 80
SENTENCE: Final = 200
PASSAGE: Final = 600
"""Characters that are looked at at all, so that no text takes time or room without end."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a picture: measured first, then drawn with its upper edge at the place it is given."""

    height: int
    draw: Callable[[Canvas, int], None]


def space(height: int) -> Block:
    """Nothing."""
    return Block(height, lambda _canvas, _top: None)

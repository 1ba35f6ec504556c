"""The blocks of a picture, stacked from top to bottom."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.infra.drawing.canvas import Canvas

MAX_LABEL: Final = 80
MAX_SENTENCE: Final = 200
MAX_PASSAGE: Final = 600
"""Maximum characters of a text, so that a long one can't take unlimited time or space."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a picture. It is measured first, then drawn with its upper edge at a given position."""

    height: int
    draw: Callable[[Canvas, int], None]


def create_space(height: int) -> Block:
    """Return an empty block of this height."""
    return Block(height, lambda _canvas, _top: None)

"""Smooth shapes: drawn at four times the size, shrunk once, and cached. The shape is white."""

from collections.abc import Callable
from functools import lru_cache

from PIL import Image, ImageDraw

_FINER = 4

_BOLT = ((18, 5), (8, 18), (15, 18), (13.5, 27), (24, 14), (17, 14))
_BOLT_GRID = 32
"""The side of the square that the logo's bolt is drawn in."""

_CHECK = ((0.29, 0.52), (0.44, 0.67), (0.72, 0.36))


@lru_cache(maxsize=16)
def draw_disc(diameter: int) -> Image.Image:
    """Return a filled circle."""
    return _draw_smooth(diameter, lambda draw, side: draw.ellipse((0, 0, side - 1, side - 1), fill=255))


@lru_cache(maxsize=16)
def draw_rounded_square(side: int, radius: int) -> Image.Image:
    """Return a square with round corners."""
    return _draw_smooth(
        side, lambda draw, size: draw.rounded_rectangle((0, 0, size - 1, size - 1), radius * _FINER, fill=255)
    )


@lru_cache(maxsize=4)
def draw_bolt(side: int) -> Image.Image:
    """Return the lightning bolt of Kirim's logo, in a square of `side`."""

    def draw(on: ImageDraw.ImageDraw, size: int) -> None:
        on.polygon([(x * size / _BOLT_GRID, y * size / _BOLT_GRID) for x, y in _BOLT], fill=255)

    return _draw_smooth(side, draw)


@lru_cache(maxsize=4)
def draw_check(side: int, thickness: int) -> Image.Image:
    """Return a tick with round ends, in a square of `side`."""

    def draw(on: ImageDraw.ImageDraw, size: int) -> None:
        points = [(x * size, y * size) for x, y in _CHECK]
        on.line(points, fill=255, width=thickness * _FINER)
        radius = thickness * _FINER / 2
        for x, y in points:
            on.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)

    return _draw_smooth(side, draw)


def _draw_smooth(side: int, draw: Callable[[ImageDraw.ImageDraw, int], object]) -> Image.Image:
    large = Image.new("L", (side * _FINER, side * _FINER))
    draw(ImageDraw.Draw(large), side * _FINER)
    return large.resize((side, side), Image.Resampling.BOX)

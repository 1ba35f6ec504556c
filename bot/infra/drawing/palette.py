"""The colours of a picture, and the shades between each ink and its background.

Pictures use the indices of one palette. That takes a fifth of the time and bytes of full colour.
"""

from collections.abc import Mapping, Sequence
from typing import Final

Colour = tuple[int, int, int]
"""Red, green and blue."""

PAGE = "page"
CARD = "card"
INK = "ink"
INK_2 = "ink-2"
ACCENT = "accent"
SOFT = "soft"
LINE = "line"
SENT = "sent"

COLOURS: Final = {
    PAGE: (0xE3, 0xED, 0xE8),
    CARD: (0xFF, 0xFF, 0xFF),
    INK: (0x17, 0x22, 0x1E),
    INK_2: (0x52, 0x60, 0x5A),
    ACCENT: (0x0B, 0x6B, 0x62),
    SOFT: (0xEC, 0xF5, 0xF1),
    LINE: (0xC9, 0xD6, 0xCF),
    SENT: (0x1A, 0x7A, 0x45),
}
"""The colours of the chat page. Each ink has a contrast of 4.5 or more on its backgrounds."""

PAIRS: Final = (
    (CARD, PAGE),
    (PAGE, CARD),
    (ACCENT, PAGE),
    (INK, PAGE),
    (CARD, ACCENT),
    (INK, CARD),
    (INK_2, CARD),
    (ACCENT, CARD),
    (SENT, CARD),
    (SOFT, CARD),
    (LINE, CARD),
    (CARD, SENT),
    (INK, SOFT),
    (INK_2, SOFT),
    (ACCENT, SOFT),
    (CARD, SOFT),
)
"""All pairs (ink, background) of a receipt."""

SHADES: Final = 15
"""Steps from a background to an ink, for smooth edges. A palette holds 256 colours."""


class Palette:
    """Colours by name, the shades of each pair, and their indices (up to 256)."""

    def __init__(self, colours: Mapping[str, Colour], pairs: Sequence[tuple[str, str]]) -> None:
        between = [(pair, step) for pair in pairs for step in range(1, SHADES)]
        self._plain = {colour: place for place, colour in enumerate(colours)}
        self._shade = {key: place for place, key in enumerate(between, start=len(colours))}
        self._ramps = {(ink, ground): self._ramp(ink, ground) for ink, ground in pairs}
        mixed = (_mix(colours[ink], colours[ground], step / SHADES) for (ink, ground), step in between)
        self.bytes: Final = bytes(value for colour in (*colours.values(), *mixed) for value in colour)
        """Red, green and blue of each index."""

    def index(self, colour: str) -> int:
        """Return the index of a plain colour."""
        return self._plain[colour]

    def ramp(self, ink: str, ground: str) -> list[int]:
        """Return the index for each of 256 strengths of `ink` on `ground`."""
        return self._ramps[ink, ground]

    def _ramp(self, ink: str, ground: str) -> list[int]:
        shades = (self._shade[(ink, ground), step] for step in range(1, SHADES))
        places = [self._plain[ground], *shades, self._plain[ink]]
        return [places[round(strength * SHADES / 255)] for strength in range(256)]


def _mix(over: Colour, under: Colour, share: float) -> Colour:
    red, green, blue = (round(low + (high - low) * share) for high, low in zip(over, under, strict=True))
    return red, green, blue


RECEIPT: Final = Palette(COLOURS, PAIRS)

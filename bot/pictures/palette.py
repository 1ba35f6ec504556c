"""The few colours of a receipt, and the shades between each ink and the ground it is on.

A receipt is drawn in indices of one palette: a fifth of the time and of the bytes of full colour.
"""

from typing import Final

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
"""The chat page's; each ink is readable on each ground it is used on (a contrast of 4.5 or more)."""

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
"""(ink, ground): what is ever drawn on what."""

SHADES: Final = 15
"""Steps from a ground to an ink, for smooth edges; a palette holds 256 colours."""


def index(colour: str) -> int:
    """A plain colour's place in the palette."""
    return _PLAIN[colour]


def ramp(ink: str, ground: str) -> list[int]:
    """For each of 256 strengths of `ink` on `ground`, its place in the palette."""
    return _RAMPS[ink, ground]


def _mixed(ink: str, ground: str, share: float) -> tuple[int, int, int]:
    red, green, blue = (
        round(under + (over - under) * share) for over, under in zip(COLOURS[ink], COLOURS[ground], strict=True)
    )
    return red, green, blue


_BETWEEN: Final = [(pair, step) for pair in PAIRS for step in range(1, SHADES)]
_PLAIN: Final = {colour: place for place, colour in enumerate(COLOURS)}
_SHADE: Final = {key: place for place, key in enumerate(_BETWEEN, start=len(COLOURS))}

BYTES: Final = bytes(
    value
    for colour in (*COLOURS.values(), *(_mixed(*pair, step / SHADES) for pair, step in _BETWEEN))
    for value in colour
)
"""The palette: red, green and blue of each place."""


def _ramp(ink: str, ground: str) -> list[int]:
    places = [_PLAIN[ground], *(_SHADE[(ink, ground), step] for step in range(1, SHADES)), _PLAIN[ink]]
    return [places[round(strength * SHADES / 255)] for strength in range(256)]


_RAMPS: Final = {(ink, ground): _ramp(ink, ground) for ink, ground in PAIRS}

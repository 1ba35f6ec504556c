"""The measures that all parts of a receipt share, in pixels."""

from typing import Final

WIDTH: Final = 1080
CARD_LEFT: Final = 40
CARD_RIGHT: Final = WIDTH - CARD_LEFT
LEFT: Final = 108
"""Where text begins; it ends at `RIGHT`."""
RIGHT: Final = WIDTH - LEFT
TEXT_WIDTH: Final = RIGHT - LEFT
MIDDLE: Final = WIDTH // 2

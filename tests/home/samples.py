"""Values of what several features show together, for `every_screen.py`."""

from collections.abc import Callable, Iterable
from typing import Final

from bot.home.screens import show_staff_help
from bot.infra.telegram.ui.screen import Screen
from tests.screens import Outside

SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    (show_staff_help, "parts"): lambda outside: ((Screen(outside.html),), (Screen(outside.html),) * 2),
}

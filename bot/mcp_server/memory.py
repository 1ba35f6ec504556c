"""How much of what agents did this server remembers: it keeps no database."""

from typing import Any

REMEMBERED = 1000


def make_room(kept: dict[Any, Any]) -> None:
    """Forget the oldest entry of `kept` if it is full."""
    if len(kept) >= REMEMBERED:
        del kept[next(iter(kept))]

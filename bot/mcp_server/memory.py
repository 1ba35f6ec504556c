"""The limit of what this server keeps in memory about calls. It has no database."""

from typing import Any

REMEMBERED = 1000


def drop_oldest(kept: dict[Any, Any]) -> None:
    """Remove the oldest entry of `kept` if it is full."""
    if len(kept) >= REMEMBERED:
        del kept[next(iter(kept))]

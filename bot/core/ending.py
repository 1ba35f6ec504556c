"""How work that goes on in tasks ends with its process."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

CANCELLING_SECONDS: Final = 1.0


async def end(under_way: Callable[[], Iterable[asyncio.Task[Any]]], within: float) -> None:
    """Give what is under way `within` seconds, and cancel what is left by then, also what has begun meanwhile."""
    if tasks := list(under_way()):
        await asyncio.wait(tasks, timeout=within)
    left = list(under_way())
    for task in left:
        task.cancel()
    if left:
        # Cancelled isn't ended: the store must not be closed under a transaction that is being undone.
        await asyncio.wait(left, timeout=CANCELLING_SECONDS)

"""Shutdown of background tasks when the process ends."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

CANCEL_SECONDS: Final = 1.0


async def finish_tasks(running: Callable[[], Iterable[asyncio.Task[Any]]], within: float) -> None:
    """Wait `within` seconds for the running tasks, then cancel the rest, including tasks started while waiting."""
    if tasks := list(running()):
        await asyncio.wait(tasks, timeout=within)
    unfinished = list(running())
    for task in unfinished:
        task.cancel()
    if unfinished:
        # Wait until the cancelled tasks have ended. Their transactions must be rolled back before the database closes.
        await asyncio.wait(unfinished, timeout=CANCEL_SECONDS)

"""Shutdown of background tasks when the process ends."""

import asyncio
import contextlib
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


async def outlive_cancellation(task: asyncio.Task[Any], within: float, *, is_cancelled: bool = False) -> bool:
    """Wait until `task` has ended. Return whether the caller was cancelled, who still has to end then.

    From a cancellation on, the task may go on for `within` seconds. Then it is cancelled, too. `is_cancelled` says that
    the caller was cancelled before.
    """
    if not is_cancelled:
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            is_cancelled = True
    if is_cancelled:
        await _wait_uncancelled(task, within)
        task.cancel()
        await _wait_uncancelled(task, CANCEL_SECONDS)
    return is_cancelled


async def _wait_uncancelled(task: asyncio.Task[Any], within: float) -> None:
    """Wait up to `within` seconds for `task`, however often the caller is cancelled."""
    loop = asyncio.get_running_loop()
    until = loop.time() + within
    while not task.done() and loop.time() < until:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({task}, timeout=until - loop.time())

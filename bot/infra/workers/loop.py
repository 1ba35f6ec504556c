"""The loop that every worker is: do, wait for the next time or a nudge, and outlive a failure."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

log = structlog.get_logger(__name__)

LONGEST_PAUSE = 30.0


class Wakeup:
    """Wakes a loop before its time; nudges given meanwhile count once."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def __call__(self) -> None:
        """Wake the loop."""
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Wait for a nudge, `seconds` at the most."""
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._event.wait()
        except TimeoutError:
            return
        finally:
            self._event.clear()


async def run_forever(name: str, once: Callable[[], Awaitable[float]], nudge: Wakeup) -> None:
    """Call `once` again and again; it says in how many seconds at the latest it wants to be called next.

    A failure (the database is away, say) is logged by its kind and tried again, later and later.
    """
    failures = 0
    while True:
        try:
            pause = await once()
            failures = 0
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # A stray one, of something within `once`: it must not end the worker unnoticed.
            failures += 1
            pause = min(2.0**failures / 2, LONGEST_PAUSE)
            log.error("worker_failed", worker=name, error="CancelledError", retry_in=pause)  # noqa: TRY400
            await asyncio.sleep(pause)
            continue
        except Exception as error:
            failures += 1
            pause = min(2.0**failures / 2, LONGEST_PAUSE)
            log.exception("worker_failed", worker=name, error=type(error).__name__, retry_in=pause)
            await asyncio.sleep(pause)
            continue
        await nudge.wait(pause)

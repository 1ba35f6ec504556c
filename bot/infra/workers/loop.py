"""The loop of every worker: work, wait for the next time or a wake-up, and survive failures."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bot.core.backoff import Backoff

log = structlog.get_logger(__name__)

AFTER_FAILURES = Backoff(first=1.0, longest=30.0)


class Wakeup:
    """Wake a loop early. Several calls before it runs count once."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def __call__(self) -> None:
        """Wake the loop."""
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Wait for a wake-up, up to `seconds`."""
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._event.wait()
        except TimeoutError:
            return
        finally:
            self._event.clear()


async def run_forever(name: str, once: Callable[[], Awaitable[float]], wakeup: Wakeup) -> None:
    """Call `once` again and again. It returns the seconds until its next call, if nothing wakes it earlier.

    A failure, such as a lost database, is logged by its kind and retried with growing pauses.
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
            # A cancellation that something inside `once` raised. It must not end the worker.
            failures += 1
            pause = AFTER_FAILURES.after(failures)
            log.error("worker_failed", worker=name, error="CancelledError", retry_in=pause)  # noqa: TRY400
            await asyncio.sleep(pause)
            continue
        except Exception as error:
            failures += 1
            pause = AFTER_FAILURES.after(failures)
            log.exception("worker_failed", worker=name, error=type(error).__name__, retry_in=pause)
            await asyncio.sleep(pause)
            continue
        await wakeup.wait(pause)

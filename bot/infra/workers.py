"""Background workers: the loop that each one runs in, and the group that notices when one ends.

What must not be lost while the database is down is retried as often as it takes (`retry_forever`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, TypeVar

import structlog
from prometheus_client import Counter

from bot.core.backoff import Backoff
from bot.infra.db.fence import LeaseLost, is_lease_held
from bot.infra.logging import bind_fields

log = structlog.get_logger(__name__)

WORKER_FAILURES: Final = Counter(
    "kirim_worker_failures", "Rounds of a worker that failed and are tried again.", ["worker"]
)

LEASE_LOST_SECONDS = 1.0
AFTER_FAILURES = Backoff(first=1.0, longest=30.0)
BETWEEN_TRIES = Backoff(first=0.25, longest=5.0)

Task = asyncio.Task[Any]
Sleep = Callable[[float], Awaitable[object]]
T = TypeVar("T")
R = TypeVar("R")


class Wakeup:
    """Wakes a loop early, in each process on the database. Several calls before the loop runs count once."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.share: Callable[[], None] = lambda: None
        """Wakes the loops of the other processes. `bot/process.py` sets it if there can be others."""

    def __call__(self) -> None:
        """Wake the loop here and in the other processes."""
        self._event.set()
        self.share()

    def wake_here(self) -> None:
        """Wake only the loop of this process."""
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
    failures, failed_rounds = 0, WORKER_FAILURES.labels(name)  # the series exists from the start, with 0
    while True:
        try:
            pause = await once() if is_lease_held() else LEASE_LOST_SECONDS
            failures = 0
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # A cancellation that something inside `once` raised. It must not end the worker.
            failures += 1
            failed_rounds.inc()
            pause = AFTER_FAILURES.after(failures)
            log.error("worker_failed", worker=name, error="CancelledError", retry_in=pause)  # noqa: TRY400
            await asyncio.sleep(pause)
            continue
        except LeaseLost:
            # Another process leads. This loop is cancelled soon, and can do nothing until then.
            pause = LEASE_LOST_SECONDS
        except Exception as error:
            failures += 1
            failed_rounds.inc()
            pause = AFTER_FAILURES.after(failures)
            log.exception("worker_failed", worker=name, error=type(error).__name__, retry_in=pause)
            await asyncio.sleep(pause)
            continue
        await wakeup.wait(pause)


async def run_each(
    name: str, items: Iterable[T], action: Callable[[T], Awaitable[R]], *, field: str = ""
) -> Sequence[R]:
    """Call `action` with each item of the worker `name`, and return the results.

    One that fails is logged and counted, and stops no other. Its line has the item as `field`.

    Raises:
        Exception: every item failed, as without a database. It is the last one's error.
    """
    results, error = list[R](), None
    for item in items:
        with bind_fields(**{field: item} if field else {}):
            try:
                results.append(await action(item))
            except LeaseLost:
                raise
            except Exception as failed:  # noqa: BLE001  whatever it is, it may be about this item only
                error = failed
                WORKER_FAILURES.labels(name).inc()
                log.error("worker_item_failed", worker=name, error=type(error).__name__)  # noqa: TRY400  may quote rows
        await asyncio.sleep(0)  # on SQLite, reads don't let others run
    if error is not None and not results:
        raise error
    return results


async def retry_forever(
    what: str,
    action: Callable[[], Awaitable[T]],
    *,
    retry_on: type[Exception] = Exception,
    give_up_on: tuple[type[Exception], ...] = (),
    sleep: Sleep = asyncio.sleep,
) -> T:
    """Call `action` until it succeeds, and return its result.

    For writes that must not be lost, for times when the database can't be reached.

    Args:
        what: the name of the action in the log.
        action: what to do. It must be harmless to repeat.
        retry_on: the exceptions after which to try again. Others are raised.
        give_up_on: besides `LeaseLost`, exceptions that are raised although they are a kind of `retry_on`.
        sleep: waits for some seconds.
    """
    waits = BETWEEN_TRIES.waits()
    while True:
        try:
            return await action()
        except LeaseLost:
            raise
        except give_up_on:
            raise
        except retry_on as error:
            wait = next(waits)
            # Without the traceback, which can quote rows.
            log.error("retry_scheduled", what=what, error=type(error).__name__, retry_in=wait)  # noqa: TRY400
        await sleep(wait)


class WorkerGroup:
    """Starts workers, and notices when the first returns, fails or is cancelled."""

    def __init__(self) -> None:
        self._tasks: list[Task] = []
        self._started: list[Task] = []
        self._changed = asyncio.Event()

    def start(self, name: str, work: Coroutine[Any, Any, Any]) -> None:
        """Run `work` in a task with that name until it is cancelled."""
        task = asyncio.create_task(work, name=name)
        self._started.append(task)
        self.add(task)

    def add(self, task: Task) -> None:
        """Watch a task that other code starts and ends. The name of the task is that of the worker."""
        self._tasks.append(task)
        task.add_done_callback(lambda _: self._changed.set())

    @property
    def all_alive(self) -> bool:
        """Whether every task is running."""
        return not any(task.done() for task in self._tasks)

    async def wait_for_first_end(self) -> Task:
        """Wait until a task has ended, and return it."""
        await self._changed.wait()
        return next(task for task in self._tasks if task.done())

    async def cancel(self) -> None:
        """Cancel the tasks that this group started, and wait for them."""
        for task in self._started:
            task.cancel()
        await asyncio.gather(*self._started, return_exceptions=True)


def get_task_error(task: Task) -> BaseException | None:
    """Return the exception of an ended task: `CancelledError` if it was cancelled, None if it returned."""
    return asyncio.CancelledError() if task.cancelled() else task.exception()

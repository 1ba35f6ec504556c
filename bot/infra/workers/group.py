"""The tasks that run as long as the bot. If one ends, the bot stops."""

import asyncio
from collections.abc import Coroutine
from typing import Any

Task = asyncio.Task[Any]


class WorkerGroup:
    """Start workers and notice the first one that returns, fails or is cancelled."""

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
        """Watch a task that another part starts and ends. The task's name is the worker's."""
        self._tasks.append(task)
        task.add_done_callback(lambda _: self._changed.set())

    @property
    def all_alive(self) -> bool:
        """Return whether every task is running."""
        return not any(task.done() for task in self._tasks)

    async def first_ended(self) -> Task:
        """Wait until a task has ended, and return it."""
        await self._changed.wait()
        return next(task for task in self._tasks if task.done())

    async def cancel(self) -> None:
        """Cancel the tasks that this group started, and wait for them."""
        for task in self._started:
            task.cancel()
        await asyncio.gather(*self._started, return_exceptions=True)


def why_it_ended(task: Task) -> BaseException | None:
    """Return what a task failed with: `CancelledError` if it was cancelled, None if it returned."""
    return asyncio.CancelledError() if task.cancelled() else task.exception()

"""The tasks that have to go on for as long as the bot runs: where one of them ends, the bot can't go on."""

import asyncio
from collections.abc import Coroutine
from typing import Any

Task = asyncio.Task[Any]


class WorkerGroup:
    """Starts workers and notices the first one that ends, however it does: returned, failed, or cancelled."""

    def __init__(self) -> None:
        self._tasks: list[Task] = []
        self._started: list[Task] = []
        self._changed = asyncio.Event()

    def start(self, name: str, work: Coroutine[Any, Any, Any]) -> None:
        """Run `work` in a task of that name, until it is cancelled."""
        task = asyncio.create_task(work, name=name)
        self._started.append(task)
        self.add(task)

    def add(self, task: Task) -> None:
        """Watch a task that somebody else started and ends; its name is the worker's."""
        self._tasks.append(task)
        task.add_done_callback(lambda _: self._changed.set())

    @property
    def all_alive(self) -> bool:
        """Whether none has ended."""
        return not any(task.done() for task in self._tasks)

    async def first_ended(self) -> Task:
        """Wait until one has ended; that one."""
        await self._changed.wait()
        return next(task for task in self._tasks if task.done())

    async def cancel(self) -> None:
        """End those that were started here, and wait until they have."""
        for task in self._started:
            task.cancel()
        await asyncio.gather(*self._started, return_exceptions=True)


def why_it_ended(task: Task) -> BaseException | None:
    """What a task failed with; `CancelledError` where something cancelled it, None where it came to its end."""
    return asyncio.CancelledError() if task.cancelled() else task.exception()

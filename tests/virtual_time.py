"""An event loop that skips the time in which nothing happens.

A test that waits an hour ends at once, and events come in the same order as in real time.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):
    """A selector that jumps to the next timer instead of sleeping."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found and timeout is None:
            raise RuntimeError("everything waits for something that will never happen")
        if not found and timeout:
            self.now += timeout
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def in_virtual_time(test: Callable[[], Coroutine[Any, Any, T]]) -> Callable[[], T]:
    """Run an async test in virtual time. It can't use threads or the network, which take real time."""

    def run() -> T:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(test())

    run.__name__ = test.__name__
    return run


def now() -> float:
    return asyncio.get_running_loop().time()

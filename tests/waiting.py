"""Wait for what a test expects.

`TIMEOUT_SECONDS` only stops a test that would wait forever. A test goes on as soon as the event has
happened, so no result depends on its value.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

TIMEOUT_SECONDS: Final = 120.0
"""Seconds. The only limit of this kind in the tests."""

LOOK_EVERY: Final = 0.1
"""Seconds between two calls, for values without an event for their change."""

T = TypeVar("T")


async def until(holds: Callable[[], Awaitable[bool]], *, what: str = "it") -> None:
    """Wait until `holds` returns true.

    Raises:
        AssertionError: `what` has not happened.
    """
    await found(holds, bool, what=what)


async def found(look: Callable[[], Awaitable[T]], fits: Callable[[T], bool], *, what: str = "it") -> T:
    """Call `look` until its result fits, and return the result.

    Raises:
        AssertionError: `what` has not happened. The error has the last result.
    """
    result = await look()
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not fits(result):
                await asyncio.sleep(LOOK_EVERY)
                result = await look()
    except TimeoutError:
        raise AssertionError(
            f"{what} has not happened within {TIMEOUT_SECONDS:g} seconds; found last: {result!r}"
        ) from None
    return result

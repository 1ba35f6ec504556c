"""Wait for what a test expects to happen.

`TIMEOUT_SECONDS` only keeps a test from hanging when the event never comes. No result depends on its value: a test that
waits ends as soon as the event is there, however slow the machine is.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

TIMEOUT_SECONDS: Final = 120.0
"""Seconds. The only limit of this kind in the tests."""

LOOK_EVERY: Final = 0.1
"""Seconds between two looks at something that can't say by itself that it has changed."""

T = TypeVar("T")


async def until(holds: Callable[[], Awaitable[bool]], *, what: str = "it") -> None:
    """Wait until `holds` returns true.

    Raises:
        AssertionError: `what` has not happened.
    """
    await found(holds, bool, what=what)


async def found(look: Callable[[], Awaitable[T]], fits: Callable[[T], bool], *, what: str = "it") -> T:
    """Look again and again until the result fits, and return it.

    Raises:
        AssertionError: `what` has not happened; it says what was found last.
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

"""What must happen for an update not to be lost is tried until it does; the database may be away for a while."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

log = structlog.get_logger(__name__)

FIRST_WAIT, LONGEST_WAIT = 0.25, 10.0

T = TypeVar("T")


async def surely(what: str, action: Callable[[], Awaitable[T]]) -> T:
    """Do `action`, which must be harmless to repeat, until it succeeds; `what` names it in the log."""
    wait = FIRST_WAIT
    while True:
        try:
            return await action()
        except Exception as error:  # noqa: BLE001  which errors a store has is known to the store alone
            log.error("trying_again", what=what, why=type(error).__name__, wait=wait)  # noqa: TRY400  rows may be quoted
        await asyncio.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)

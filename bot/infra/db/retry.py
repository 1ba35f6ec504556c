"""What must be saved for nothing to be lost is tried until it is; the database may be away for a while."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

log = structlog.get_logger(__name__)

FIRST_WAIT, LONGEST_WAIT = 0.25, 5.0
"""Seconds between two tries."""

Sleep = Callable[[float], Awaitable[object]]

T = TypeVar("T")


async def retry_forever(
    what: str,
    action: Callable[[], Awaitable[T]],
    *,
    despite: type[Exception] = Exception,
    unless: tuple[type[Exception], ...] = (),
    sleep: Sleep = asyncio.sleep,
    **facts: str,
) -> T:
    """Do `action`, which must be harmless to repeat, until it succeeds or fails otherwise than by `despite`.

    What is of `unless` is raised although it is of `despite`. `what` names it in the log, with `facts`. `sleep` can be
    virtual.
    """
    wait = FIRST_WAIT
    while True:
        try:
            return await action()
        except unless:
            raise
        except despite as error:
            # Without the traceback: it may quote rows.
            log.error("retry_scheduled", what=what, error=type(error).__name__, retry_in=wait, **facts)  # noqa: TRY400
        await sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)

"""What must be saved for nothing to be lost is tried until it is; the database may be away for a while."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from bot.core.backoff import Backoff

log = structlog.get_logger(__name__)

BETWEEN_TRIES = Backoff(first=0.25, longest=5.0)

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
    waits = BETWEEN_TRIES.waits()
    while True:
        try:
            return await action()
        except unless:
            raise
        except despite as error:
            wait = next(waits)
            # Without the traceback: it may quote rows.
            log.error("retry_scheduled", what=what, error=type(error).__name__, retry_in=wait, **facts)  # noqa: TRY400
        await sleep(wait)

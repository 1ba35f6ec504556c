"""Retries of writes that must not be lost, for times when the database can't be reached."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from bot.core.backoff import Backoff
from bot.infra.db.fence import LeaseLost

log = structlog.get_logger(__name__)

BETWEEN_TRIES = Backoff(first=0.25, longest=5.0)

Sleep = Callable[[float], Awaitable[object]]

T = TypeVar("T")


async def retry_forever(
    what: str,
    action: Callable[[], Awaitable[T]],
    *,
    retry_on: type[Exception] = Exception,
    give_up_on: tuple[type[Exception], ...] = (),
    sleep: Sleep = asyncio.sleep,
) -> T:
    """Call `action` until it succeeds, and return its result.

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

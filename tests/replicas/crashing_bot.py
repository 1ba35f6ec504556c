"""A bot that one text kills at once, as a fault in a library would: no exception, and no clean end."""

import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any, Final

from telegram import Update

import bot.__main__
import bot.process
from bot import updates

KILLING_TEXT: Final = "This text kills the process"

_create_processor: Callable[..., Callable[[Update], Awaitable[None]]] = updates.create_processor


def main() -> None:
    """Run the bot."""
    updates.create_processor = _create_crashing_processor
    bot.__main__.main()


def _create_crashing_processor(*arguments: Any, **more: Any) -> Callable[[Update], Awaitable[None]]:
    process = _create_processor(*arguments, **more)

    async def crash_or_process(update: Update) -> None:
        if update.message is not None and update.message.text == KILLING_TEXT:
            os.kill(os.getpid(), signal.SIGKILL)
        await process(update)

    return crash_or_process

"""What somebody has corrected after sending it: heard of by what had been done with it, and by nothing else."""

from collections.abc import Awaitable, Callable

from telegram import Message, Update
from telegram.ext import ApplicationHandlerStop, MessageHandler, filters

from bot.infra.telegram.ui.handling import Context, Handler
from bot.support.user_chat import ticket_edits

Take = Callable[[Update, Message], Awaitable[bool]]
TAKERS: tuple[Take, ...] = (ticket_edits.take,)
"""Each says whether the message was its business."""


def handler() -> Handler:
    """To stand before all others: nothing else is to take a correction for something new."""
    return MessageHandler(filters.UpdateType.EDITED_MESSAGE, _corrected)


async def _corrected(update: Update, _: Context) -> None:
    message = update.edited_message
    if message is not None:
        for take in TAKERS:
            if await take(update, message):
                break
    raise ApplicationHandlerStop

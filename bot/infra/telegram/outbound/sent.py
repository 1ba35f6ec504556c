"""A call of the Bot API as an outcome, and what a message answers to."""

from collections.abc import Awaitable

from telegram import Message, ReplyParameters
from telegram.error import TelegramError

from bot.infra.telegram.outcomes import Delivered, Outcome, outcome_of


async def sent(call: Awaitable[Message | bool]) -> Outcome:
    """What became of it: nothing that Telegram or the network may cause is raised."""
    try:
        answer = await call
    except TelegramError as error:
        return outcome_of(error)
    if not isinstance(answer, Message):
        return Delivered()
    return Delivered(answer.message_id, answer.photo[-1].file_id if answer.photo else None)


def reply_to_if_there(message_id: int | None) -> ReplyParameters | None:
    """A question that was deleted meanwhile must not keep its answer from being sent."""
    return None if message_id is None else ReplyParameters(message_id, allow_sending_without_reply=True)

"""What can be done with files besides sending them. What became of it is an `Outcome`."""

from telegram import InputMediaDocument
from telegram.constants import ParseMode
from telegram.ext import ExtBot

from bot.chat.fit import CAPTION_UNITS, fit
from bot.chat.limits import Lane
from bot.chat.outcomes import Outcome
from bot.chat.render import render_keyboard
from bot.chat.screen import Keyboard
from bot.chat.sent import sent


class Files:
    """By a bot whose rate limiter is a `SendLimiter`."""

    def __init__(self, bot: ExtBot[Lane]) -> None:
        self._bot = bot

    async def edit_document(
        self, chat_id: int, message_id: int, file_id: str, caption: str, keyboard: Keyboard = (), *, lane: Lane
    ) -> Outcome:
        """Put a file that Telegram has by its id into a message, with its caption and its buttons."""
        return await sent(
            self._bot.edit_message_media(
                InputMediaDocument(
                    file_id, fit(caption, CAPTION_UNITS), ParseMode.HTML, disable_content_type_detection=True
                ),
                chat_id,
                message_id,
                reply_markup=render_keyboard(keyboard),
                rate_limit_args=lane,
            )
        )

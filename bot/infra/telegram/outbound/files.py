"""What can be done with files besides sending them. What became of it is an `Outcome`."""

from telegram import InputMediaDocument
from telegram.constants import ParseMode
from telegram.ext import ExtBot

from bot.infra.telegram.outbound.limiter import Priority
from bot.infra.telegram.outbound.truncate import CAPTION_UNITS, truncate_html
from bot.infra.telegram.outcomes import Outcome, run_call
from bot.infra.telegram.ui.keyboards import render_keyboard
from bot.infra.telegram.ui.screen import Keyboard


class Files:
    """By a bot whose rate limiter is a `SendLimiter`."""

    def __init__(self, bot: ExtBot[Priority]) -> None:
        self._bot = bot

    async def edit_document(
        self, chat_id: int, message_id: int, file_id: str, caption: str, keyboard: Keyboard = (), *, priority: Priority
    ) -> Outcome:
        """Put a file that Telegram has by its id into a message, with its caption and its buttons."""
        return await run_call(
            self._bot.edit_message_media(
                InputMediaDocument(
                    file_id, truncate_html(caption, CAPTION_UNITS), ParseMode.HTML, disable_content_type_detection=True
                ),
                chat_id,
                message_id,
                reply_markup=render_keyboard(keyboard),
                rate_limit_args=priority,
            )
        )

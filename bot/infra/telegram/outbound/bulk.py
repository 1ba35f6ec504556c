"""Sending of broadcasts: after all other messages, and paid with Stars if the operator wants that."""

from telegram import LinkPreviewOptions
from telegram.constants import ParseMode
from telegram.ext import ExtBot

from bot.infra.telegram.outbound.limiter import Priority
from bot.infra.telegram.outbound.truncate import CAPTION_UNITS, truncate_html
from bot.infra.telegram.outcomes import Outcome, run_call
from bot.infra.telegram.ui.keyboards import render_keyboard
from bot.infra.telegram.ui.screen import Keyboard


class BulkSender:
    """Sends messages to many users with the lowest priority. The rate limiter of the bot is a `SendLimiter`.

    Errors of Telegram and the network are outcomes, not exceptions.
    """

    def __init__(self, bot: ExtBot[Priority]) -> None:
        self._bot = bot

    async def send(
        self,
        chat_id: int,
        html: str,
        keyboard: Keyboard = (),
        picture: bytes | str | None = None,
        *,
        paid: bool,
        silent: bool = False,
    ) -> Outcome:
        """Send a text, or a picture (a PNG, or a photo's id) with a caption.

        `paid` lets Telegram charge Stars for the message and accept more than 30 a second.
        """
        if picture is None:
            return await run_call(
                self._bot.send_message(
                    chat_id,
                    truncate_html(html),
                    parse_mode=ParseMode.HTML,
                    reply_markup=render_keyboard(keyboard),
                    link_preview_options=LinkPreviewOptions(is_disabled=True),
                    disable_notification=silent,
                    allow_paid_broadcast=paid or None,
                    rate_limit_args="bulk",
                )
            )
        return await run_call(
            self._bot.send_photo(
                chat_id,
                picture,
                caption=truncate_html(html, CAPTION_UNITS),
                parse_mode=ParseMode.HTML,
                reply_markup=render_keyboard(keyboard),
                disable_notification=silent,
                allow_paid_broadcast=paid or None,
                filename="picture.png" if isinstance(picture, bytes) else None,
                rate_limit_args="bulk",
            )
        )

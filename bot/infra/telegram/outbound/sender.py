"""The calls to Telegram: messages, topics, broadcasts and uploads. They return outcomes instead of raising errors.

The bot's rate limiter (`limiter.py`) waits and repeats. The caller decides what an outcome means. All texts are HTML,
without link previews.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from telegram import (
    CopyTextButton,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InlineQueryResultArticle,
    InlineQueryResultsButton,
    InputMediaDocument,
    InputMediaPhoto,
    InputTextMessageContent,
    LinkPreviewOptions,
    Message,
    ReplyParameters,
)
from telegram.constants import ChatAction, ParseMode
from telegram.error import BadRequest, TelegramError
from telegram.ext import ExtBot

from bot.infra.telegram.outbound.limiter import Priority
from bot.infra.telegram.outbound.names import Names
from bot.infra.telegram.outcomes import (
    Delivered,
    Gone,
    Invalid,
    Moved,
    NotModified,
    Outcome,
    TryLater,
    Unreachable,
    run_call,
    to_outcome,
)
from bot.infra.telegram.ui.screen import (
    CAPTION_UNITS,
    MAX_RESULTS,
    Button,
    InlineAnswer,
    InlineResult,
    Keyboard,
    truncate_html,
)

if TYPE_CHECKING:
    from telegram import ForumTopic


def render_keyboard(keyboard: Keyboard) -> InlineKeyboardMarkup | None:
    """Return python-telegram-bot's inline keyboard, or None if there are no buttons."""
    if not keyboard:
        return None
    return InlineKeyboardMarkup([[render_button(button) for button in row] for row in keyboard])


def render_button(button: Button) -> InlineKeyboardButton:
    """Return one button. An unset `style` isn't sent, because older servers don't know the field."""
    return InlineKeyboardButton(
        button.label,
        callback_data=button.data,
        url=button.url,
        copy_text=None if button.copy is None else CopyTextButton(button.copy),
        switch_inline_query=button.inline,
        style=button.style,
    )


__all__ = [
    "Delivered",
    "Gone",
    "Invalid",
    "Messenger",
    "Moved",
    "NotModified",
    "Outcome",
    "Priority",
    "TryLater",
    "Unreachable",
]

PRESS_ANSWER_CHARACTERS = 200
_TOO_LATE = ("query is too old", "query id is invalid")
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)

MAX_NAME_LENGTH: Final = 128
"""Of a topic."""

MAX_REMEMBERED: Final = 1_000
"""How many uploaded pictures are remembered."""


class Messenger:
    """Makes calls to Telegram. The rate limiter of the bot is a `SendLimiter`.

    `priority` decides what is sent first: "money" before "talk", and "talk" before "bulk". Every method returns an
    `Outcome`. Errors of Telegram and the network are outcomes, not exceptions.
    """

    def __init__(self, bot: ExtBot[Priority]) -> None:
        self._bot = bot
        self._uploads = Uploads()
        self.topics = Topics(bot)
        self.bulk = BulkSender(bot)
        self.names = Names(bot)

    @property
    def username(self) -> str:
        """The bot's username without the @. Empty until the bot has connected to Telegram."""
        try:
            return self._bot.username
        except RuntimeError:
            return ""

    @property
    def has_inline_mode(self) -> bool:
        """Whether @BotFather has turned inline mode on. Without it, Telegram rejects buttons that begin a query."""
        try:
            return bool(self._bot.supports_inline_queries)
        except RuntimeError:
            return False

    async def send_text(
        self,
        chat_id: int,
        html: str,
        keyboard: Keyboard = (),
        *,
        priority: Priority,
        silent: bool = False,
        reply_to: int | None = None,
        topic_id: int | None = None,
        protected: bool = False,
    ) -> Outcome:
        """Send a new message. `reply_to` is quoted if it still exists. A `protected` message can't be forwarded."""
        return await run_call(
            self._bot.send_message(
                chat_id,
                truncate_html(html),
                message_thread_id=topic_id,
                protect_content=protected or None,
                parse_mode=ParseMode.HTML,
                reply_markup=render_keyboard(keyboard),
                link_preview_options=_NO_PREVIEW,
                disable_notification=silent,
                reply_parameters=_reply_to(reply_to),
                rate_limit_args=priority,
            )
        )

    async def send_photo(
        self,
        chat_id: int,
        photo: bytes | str,
        caption: str,
        keyboard: Keyboard = (),
        *,
        priority: Priority,
        silent: bool = False,
        caption_above: bool = False,
        reply_to: int | None = None,
        topic_id: int | None = None,
    ) -> Outcome:
        """Send a picture (a PNG, or a photo's id) with a caption of up to 1,024 characters.

        A picture that was sent before isn't uploaded again.
        """
        return await self._uploads.send(
            photo,
            lambda known: self._bot.send_photo(
                chat_id,
                known,
                message_thread_id=topic_id,
                caption=truncate_html(caption, CAPTION_UNITS),
                parse_mode=ParseMode.HTML,
                show_caption_above_media=caption_above or None,
                reply_markup=render_keyboard(keyboard),
                disable_notification=silent,
                reply_parameters=_reply_to(reply_to),
                filename="picture.png",
                rate_limit_args=priority,
            ),
        )

    async def send_document(
        self,
        chat_id: int,
        content: bytes | str,
        name: str | None,
        caption: str,
        keyboard: Keyboard = (),
        *,
        priority: Priority,
        silent: bool = False,
        reply_to: int | None = None,
        topic_id: int | None = None,
    ) -> Outcome:
        """Send a file, or Telegram's id of a file, with a caption of up to 1,024 characters."""
        return await run_call(
            self._bot.send_document(
                chat_id,
                content,
                message_thread_id=topic_id,
                disable_notification=silent,
                reply_parameters=_reply_to(reply_to),
                caption=truncate_html(caption, CAPTION_UNITS),
                parse_mode=ParseMode.HTML,
                reply_markup=render_keyboard(keyboard),
                disable_content_type_detection=True,
                filename=name,
                rate_limit_args=priority,
            )
        )

    async def edit_text(
        self, chat_id: int, message_id: int, html: str, keyboard: Keyboard = (), *, priority: Priority
    ) -> Outcome:
        """Replace a message's text and buttons. The outcome for a picture is `Gone`, because it has no text."""
        return await run_call(
            self._bot.edit_message_text(
                truncate_html(html),
                chat_id,
                message_id,
                parse_mode=ParseMode.HTML,
                reply_markup=render_keyboard(keyboard),
                link_preview_options=_NO_PREVIEW,
                rate_limit_args=priority,
            )
        )

    async def edit_inline(self, inline_id: str, html: str, keyboard: Keyboard = ()) -> Outcome:
        """Replace the text and buttons of a message that a user has sent from an inline answer, by Telegram's id of it.

        The bot doesn't know its chat, so no limit of a chat applies here.
        """
        return await run_call(
            self._bot.edit_message_text(
                truncate_html(html),
                inline_message_id=inline_id,
                parse_mode=ParseMode.HTML,
                reply_markup=render_keyboard(keyboard),
                link_preview_options=_NO_PREVIEW,
            )
        )

    async def edit_photo(
        self,
        chat_id: int,
        message_id: int,
        photo: bytes | str,
        caption: str,
        keyboard: Keyboard = (),
        *,
        priority: Priority,
    ) -> Outcome:
        """Replace or add the picture of a message, with its caption and buttons."""
        return await self._uploads.send(
            photo,
            lambda known: self._bot.edit_message_media(
                InputMediaPhoto(known, truncate_html(caption, CAPTION_UNITS), ParseMode.HTML, filename="picture.png"),
                chat_id,
                message_id,
                reply_markup=render_keyboard(keyboard),
                rate_limit_args=priority,
            ),
        )

    async def edit_document(
        self, chat_id: int, message_id: int, file_id: str, caption: str, keyboard: Keyboard = (), *, priority: Priority
    ) -> Outcome:
        """Replace or add the file of a message, by Telegram's id of the file, with its caption and buttons."""
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

    async def edit_caption(
        self, chat_id: int, message_id: int, caption: str, keyboard: Keyboard = (), *, priority: Priority
    ) -> Outcome:
        """Replace the caption and buttons of a picture."""
        return await run_call(
            self._bot.edit_message_caption(
                chat_id,
                message_id,
                caption=truncate_html(caption, CAPTION_UNITS),
                parse_mode=ParseMode.HTML,
                reply_markup=render_keyboard(keyboard),
                rate_limit_args=priority,
            )
        )

    async def edit_keyboard(self, chat_id: int, message_id: int, keyboard: Keyboard, *, priority: Priority) -> Outcome:
        """Replace a message's buttons. An empty keyboard removes them."""
        return await run_call(
            self._bot.edit_message_reply_markup(
                chat_id, message_id, reply_markup=render_keyboard(keyboard), rate_limit_args=priority
            )
        )

    async def delete(self, chat_id: int, message_id: int, *, priority: Priority) -> Outcome:
        """Delete a message. The outcome is `Gone` if it is older than 48 hours or already deleted."""
        return await run_call(self._bot.delete_message(chat_id, message_id, rate_limit_args=priority))

    async def show_typing(self, chat_id: int) -> Outcome:
        """Show that the bot is at work, for five seconds or until the next message."""
        return await run_call(self._bot.send_chat_action(chat_id, ChatAction.TYPING))

    async def answer_press(self, query_id: str, text: str | None = None, *, alert: bool = False) -> Outcome:
        """Answer a press, so that the app stops waiting, and show `text` if there is one. A late answer is no error."""
        shown = None if text is None else text[:PRESS_ANSWER_CHARACTERS]
        try:
            await self._bot.answer_callback_query(query_id, shown, show_alert=alert)
        except BadRequest as error:
            if any(phrase in error.message.lower() for phrase in _TOO_LATE):
                return Delivered()
            return to_outcome(error)
        except TelegramError as error:
            return to_outcome(error)
        return Delivered()

    async def answer_inline(self, query_id: str, answer: InlineAnswer) -> Outcome:
        """Answer an inline query for its user alone. Telegram would keep the answer for others otherwise."""
        start = InlineQueryResultsButton(answer.start_label, start_parameter=answer.start_word)
        return await run_call(
            self._bot.answer_inline_query(
                query_id,
                [_to_article(result) for result in answer.results[:MAX_RESULTS]],
                cache_time=0,
                is_personal=True,
                button=start if answer.start_label else None,
            )
        )


def _to_article(result: InlineResult) -> InlineQueryResultArticle:
    content = InputTextMessageContent(
        truncate_html(result.text), parse_mode=ParseMode.HTML, link_preview_options=_NO_PREVIEW
    )
    return InlineQueryResultArticle(
        result.id,
        result.title,
        content,
        reply_markup=render_keyboard(result.keyboard),
        description=result.description or None,
    )


def _reply_to(message_id: int | None) -> ReplyParameters | None:
    """Return the message to reply to. If it was deleted, the reply is sent without it."""
    return None if message_id is None else ReplyParameters(message_id, allow_sending_without_reply=True)


class Topics:
    """Makes calls about topics and reactions. The rate limiter of the bot is a `SendLimiter`."""

    def __init__(self, bot: ExtBot[Priority]) -> None:
        self._bot = bot

    async def has_topics(self, chat_id: int) -> bool | Outcome:
        """Return whether the chat has topics. A private chat has none, so Telegram isn't asked."""
        if chat_id > 0:
            return False
        try:
            chat = await self._bot.get_chat(chat_id, rate_limit_args="talk")
        except TelegramError as error:
            return to_outcome(error)
        return bool(chat.is_forum)

    async def open_topic(self, chat_id: int, name: str) -> Outcome:
        """Open a topic, whose id is `Delivered.message_id`. `Invalid`: the chat has none, or the bot has no right."""
        try:
            topic: ForumTopic = await self._bot.create_forum_topic(
                chat_id, name[:MAX_NAME_LENGTH], rate_limit_args="talk"
            )
        except TelegramError as error:
            return to_outcome(error)
        return Delivered(topic.message_thread_id)

    async def close_topic(self, chat_id: int, topic_id: int) -> Outcome:
        """Close a topic. It can still be read."""
        return await run_call(self._bot.close_forum_topic(chat_id, topic_id, rate_limit_args="talk"))

    async def reopen_topic(self, chat_id: int, topic_id: int) -> Outcome:
        """Open a closed topic again."""
        return await run_call(self._bot.reopen_forum_topic(chat_id, topic_id, rate_limit_args="talk"))

    async def delete_topic(self, chat_id: int, topic_id: int) -> Outcome:
        """Delete a topic with its messages. `Invalid`: the bot may not do that. `Gone`: there is no such topic."""
        return await run_call(self._bot.delete_forum_topic(chat_id, topic_id, rate_limit_args="talk"))

    async def rename_topic(self, chat_id: int, topic_id: int, name: str) -> Outcome:
        """Rename a topic."""
        return await run_call(
            self._bot.edit_forum_topic(chat_id, topic_id, name[:MAX_NAME_LENGTH], rate_limit_args="talk")
        )

    async def react(self, chat_id: int, message_id: int, emoji: str) -> Outcome:
        """Set the bot's reaction to a message. `Invalid`: the chat doesn't allow this reaction."""
        return await run_call(self._bot.set_message_reaction(chat_id, message_id, emoji, rate_limit_args="talk"))


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


class Uploads:
    """Remembers the ids of the pictures that were sent last, by their content.

    A picture that was sent before is sent again by Telegram's id for it. After a restart each is uploaded again.
    """

    def __init__(self) -> None:
        self._id_of: OrderedDict[bytes, str] = OrderedDict()

    def find_id(self, photo: bytes | str) -> bytes | str:
        """Return Telegram's id of the picture if it is known, else the picture. An id stays an id."""
        if isinstance(photo, str):
            return photo
        return self._id_of.get(_digest(photo), photo)

    async def send(self, photo: bytes | str, call: Callable[[bytes | str], Awaitable[Message | bool]]) -> Outcome:
        """Send a picture by its id if it is known. If Telegram no longer knows the id, upload the picture."""
        photo_or_id = self.find_id(photo)
        outcome = await run_call(call(photo_or_id))
        if isinstance(outcome, Invalid) and photo_or_id is not photo:
            self.forget(photo)
            outcome = await run_call(call(photo))
        if isinstance(outcome, Delivered):
            self.remember(photo, outcome.photo_id)
        return outcome

    def remember(self, photo: bytes | str, file_id: str | None) -> None:
        """Save the id that Telegram gave a picture."""
        if isinstance(photo, bytes) and file_id:
            digest = _digest(photo)
            self._id_of[digest] = file_id
            self._id_of.move_to_end(digest)
            while len(self._id_of) > MAX_REMEMBERED:
                self._id_of.popitem(last=False)

    def forget(self, photo: bytes | str) -> None:
        """Delete the id of a picture, because Telegram no longer knows it."""
        if isinstance(photo, bytes):
            self._id_of.pop(_digest(photo), None)


def _digest(photo: bytes) -> bytes:
    return hashlib.blake2b(photo, digest_size=16).digest()

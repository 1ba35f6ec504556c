"""Topics and reactions in the chats of staff. Each call returns an `Outcome`."""

from typing import TYPE_CHECKING

from telegram.error import TelegramError
from telegram.ext import ExtBot

from bot.infra.telegram.outbound.limiter import Priority
from bot.infra.telegram.outcomes import Delivered, Outcome, run_call, to_outcome

if TYPE_CHECKING:
    from telegram import ForumTopic

MAX_NAME_LENGTH = 128


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

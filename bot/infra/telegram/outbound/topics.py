"""What staff's rooms have besides messages: topics, and reactions. What became of each is an `Outcome`."""

from typing import TYPE_CHECKING

from telegram.error import TelegramError
from telegram.ext import ExtBot

from bot.infra.telegram.outbound.limiter import Priority
from bot.infra.telegram.outcomes import Delivered, Outcome, run_call, to_outcome

if TYPE_CHECKING:
    from telegram import ForumTopic

LONGEST_NAME = 128


class Topics:
    """By a bot whose rate limiter is a `SendLimiter`."""

    def __init__(self, bot: ExtBot[Priority]) -> None:
        self._bot = bot

    async def has_topics(self, chat_id: int) -> bool | Outcome:
        """Whether the chat is a forum; a private chat is asked nothing."""
        if chat_id > 0:
            return False
        try:
            chat = await self._bot.get_chat(chat_id, rate_limit_args="talk")
        except TelegramError as error:
            return to_outcome(error)
        return bool(chat.is_forum)

    async def open_topic(self, chat_id: int, name: str) -> Outcome:
        """Open one; its id is `Delivered.message_id`. `Invalid` where the chat has no topics, or we may not."""
        try:
            topic: ForumTopic = await self._bot.create_forum_topic(chat_id, name[:LONGEST_NAME], rate_limit_args="talk")
        except TelegramError as error:
            return to_outcome(error)
        return Delivered(topic.message_thread_id)

    async def close_topic(self, chat_id: int, topic_id: int) -> Outcome:
        """Close one: it stays to be read."""
        return await run_call(self._bot.close_forum_topic(chat_id, topic_id, rate_limit_args="talk"))

    async def reopen_topic(self, chat_id: int, topic_id: int) -> Outcome:
        """Open a closed one again."""
        return await run_call(self._bot.reopen_forum_topic(chat_id, topic_id, rate_limit_args="talk"))

    async def delete_topic(self, chat_id: int, topic_id: int) -> Outcome:
        """Delete one with all that was written in it; `Invalid` where we may not, `Gone` where it isn't there."""
        return await run_call(self._bot.delete_forum_topic(chat_id, topic_id, rate_limit_args="talk"))

    async def rename_topic(self, chat_id: int, topic_id: int, name: str) -> Outcome:
        """Give one another name."""
        return await run_call(
            self._bot.edit_forum_topic(chat_id, topic_id, name[:LONGEST_NAME], rate_limit_args="talk")
        )

    async def react(self, chat_id: int, message_id: int, emoji: str) -> Outcome:
        """Put our one reaction under somebody's message; `Invalid` where the chat allows none, or not this one."""
        return await run_call(self._bot.set_message_reaction(chat_id, message_id, emoji, rate_limit_args="talk"))

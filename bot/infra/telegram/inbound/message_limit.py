"""The limit of messages and presses per minute in a chat. The bot skips more, and says when the user can continue.

The counts are only in memory. A skipped update costs no query, except one for the user's language. The limit doesn't
delay notifications about payments.

These updates are never skipped: those sent before this process began (after a pause they arrive all at once), those
that are tried again after a failure, and those from staff.
"""

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

from telegram import Chat, Update

from bot.core.clock import Clock
from bot.infra.i18n import Translator
from bot.infra.telegram.inbound.attempts import RECEIVED_AT
from bot.infra.telegram.outbound.sender import Messenger

WINDOW = timedelta(minutes=1)
OLD_UPDATES_COME_WITHIN = timedelta(minutes=5)
"""Updates that were sent before this process began arrive within this time. All later ones are counted."""
WARN_AGAIN_AFTER = timedelta(seconds=10)
"""Minimum time between two warnings, for users who never pause."""


@dataclass(slots=True)
class _ChatCount:
    """The messages and presses of one chat within the last minute."""

    answered: deque[datetime] = field(default_factory=deque)
    warn_at: datetime | None = None
    """When the next warning is due: when the time of the last one is over, but not each second. None if none was."""

    t: Translator | None = None
    """The translator for warnings. It is looked up once, and again after the next accepted update."""


class MessageLimit:
    """Counts the updates of each chat that the bot handles, by the time they were received.

    Args:
        per_minute: how many updates of one chat are handled within a minute. 0 means no limit.
        clock: the time of this machine.
        messenger: sends the warnings.
        translator_for: returns the translator for the language of a private chat.
        exempt: the chats of staff.
        offset: how far Telegram's clock, which dates messages, is ahead of this machine's.
    """

    def __init__(
        self,
        per_minute: int,
        clock: Clock,
        messenger: Messenger,
        translator_for: Callable[[int], Awaitable[Translator]],
        *,
        exempt: frozenset[int] = frozenset(),
        offset: timedelta = timedelta(0),
    ) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._messenger = messenger
        self._translator_for = translator_for
        self._exempt = exempt
        self._since = clock.now()
        self._offset = offset
        self._counts: OrderedDict[int, _ChatCount] = OrderedDict()

    async def rejects(self, update: Update) -> bool:
        """Return whether this update exceeds the limit. If so, warn the user. Each press gets an answer."""
        chat = update.effective_chat
        moment = self._find_time(update)
        if moment is None or chat is None or self.count_message(chat.id, moment):
            return False
        await self._warn(update, chat, moment)
        return True

    def count_message(self, chat_id: int, moment: datetime) -> bool:
        """Count an update that was received at `moment`. Return False, without counting, if it exceeds the limit."""
        if not self._per_minute or chat_id in self._exempt:
            return True
        count = self._get_count(chat_id, moment)
        if len(count.answered) >= self._per_minute:
            return False
        count.answered.append(moment)
        count.t = None
        return True

    def get_next_free_time(self, chat_id: int) -> datetime:
        """Return when the next update of a chat at its limit is handled."""
        return self._counts[chat_id].answered[0] + WINDOW

    def _get_count(self, chat_id: int, moment: datetime) -> _ChatCount:
        count = self._counts.setdefault(chat_id, _ChatCount())
        if count.answered and count.answered[-1] > moment + WINDOW:
            # The machine's clock was set back. Users must not wait until it has caught up.
            count = self._counts[chat_id] = _ChatCount()
        self._counts.move_to_end(chat_id)
        for each in (count, next(iter(self._counts.values()))):
            while each.answered and each.answered[0] + WINDOW <= moment:
                each.answered.popleft()
        # Each new chat removes at most one quiet chat. So memory holds about the chats of one minute.
        oldest = next(iter(self._counts))
        if oldest != chat_id and not self._counts[oldest].answered:
            del self._counts[oldest]
        return count

    def _find_time(self, update: Update) -> datetime | None:
        """Return when the update was received, or None if it isn't counted."""
        message = update.message or update.edited_message
        received = RECEIVED_AT.get(self._clock.now())
        if received is None or (message is None and update.callback_query is None):
            return None
        # The date of a message is from Telegram's clock.
        is_early = received - self._since < OLD_UPDATES_COME_WITHIN
        if message is not None and is_early and message.date < self._since + self._offset - timedelta(seconds=1):
            return None
        return received

    async def _warn(self, update: Update, chat: Chat, moment: datetime) -> None:
        count, next_free_at = self._counts[chat.id], self.get_next_free_time(chat.id)
        user = update.effective_user
        count.t = count.t or await self._translator_for(user.id if user is not None else chat.id)
        # Counted from now, because the update may have waited in the queue of its chat.
        text = count.t.plural("infra.limits.messages", max(ceil((next_free_at - self._clock.now()).total_seconds()), 1))
        if update.callback_query is not None:
            await self._messenger.answer_press(update.callback_query.id, str(text), alert=True)
        elif chat.type == Chat.PRIVATE and (count.warn_at is None or moment >= count.warn_at):
            count.warn_at = max(next_free_at, moment + WARN_AGAIN_AFTER)
            await self._messenger.send_text(chat.id, text, (), priority="talk")

"""So many messages and presses a minute from one chat: more are not read, and the user is told when to go on.

The limit is kept in memory alone, and cheap on purpose: what is too much costs no look into the database, except for
the one that tells in which language to say so. News of payments go their own way and are not slowed by it.

Never too much are: what was kept or sent before this process began (after a pause it comes all at once, though it was
written in peace), what is tried again after a failure, and what staff send.
"""

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

from telegram import Chat, Message, Update

from bot.core.clock import Clock
from bot.infra.i18n import Translator
from bot.infra.telegram.inbound.attempts import RECEIVED_AT
from bot.infra.telegram.outbound.sender import Messenger

WINDOW = timedelta(minutes=1)
OLD_UPDATES_COME_WITHIN = timedelta(minutes=5)
"""What was sent before this process began has been received by then; whatever comes later is counted."""
WARN_AGAIN_AFTER = timedelta(seconds=10)
"""Where somebody never pauses, a place becomes free each second; nobody needs to hear of each."""


@dataclass(slots=True)
class _Pace:
    """What one chat has been up to within the last minute."""

    answered: deque[datetime] = field(default_factory=deque)
    warned_at: datetime | None = None
    may_go_on_at: datetime | None = None
    t: Translator | None = None
    """The language of the refusals, looked up once until something is let in again."""

    def needs_warning(self, moment: datetime) -> bool:
        """Whether a refusal needs a message: the last one has been waited for, or there was none."""
        if self.warned_at is None or self.may_go_on_at is None:
            return True
        return moment >= max(self.may_go_on_at, self.warned_at + WARN_AGAIN_AFTER)


class MessageLimit:
    """Counts what is answered, by when it was received.

    Args:
        per_minute: how much of one chat is answered within a minute; 0 lets everything in.
        clock: this machine's.
        messenger: sends the refusals.
        translator_for: returns the translator for the language of a private chat.
        exempt: the staff's chats.
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
        self._paces: OrderedDict[int, _Pace] = OrderedDict()

    async def refuses(self, update: Update) -> bool:
        """Whether this update is too much. The user has been told then, once a spell; each press is answered."""
        chat = update.effective_chat
        moment = self._moment(update)
        if moment is None or chat is None or self.lets_in(chat.id, moment):
            return False
        await self._warn(update, chat, moment)
        return True

    def lets_in(self, chat_id: int, moment: datetime) -> bool:
        """Count one more of this chat, received at `moment`; False where it is one too many, which counts nothing."""
        if not self._per_minute or chat_id in self._exempt:
            return True
        pace = self._pace(chat_id, moment)
        if len(pace.answered) >= self._per_minute:
            return False
        pace.answered.append(moment)
        pace.t = None
        return True

    def again_at(self, chat_id: int) -> datetime:
        """When the next one is let in, of a chat that has just been refused."""
        return self._paces[chat_id].answered[0] + WINDOW

    def _pace(self, chat_id: int, moment: datetime) -> _Pace:
        pace = self._paces.setdefault(chat_id, _Pace())
        if pace.answered and pace.answered[-1] > moment + WINDOW:
            # The machine's clock was put back: nobody is to wait until it has caught up.
            pace = self._paces[chat_id] = _Pace()
        self._paces.move_to_end(chat_id)
        for known in (pace, next(iter(self._paces.values()))):
            while known.answered and known.answered[0] + WINDOW <= moment:
                known.answered.popleft()
        # One comes, at the most one goes that is quiet: the memory is that of a minute's chats.
        oldest = next(iter(self._paces))
        if oldest != chat_id and not self._paces[oldest].answered:
            del self._paces[oldest]
        return pace

    def _moment(self, update: Update) -> datetime | None:
        """When this came from outside; None for what isn't counted."""
        message, query = update.message or update.edited_message, update.callback_query
        if message is None and query is None:
            return None
        received = RECEIVED_AT.get(self._clock.now())
        if received is None or (message is not None and self._is_old(message, received)):
            return None
        return received

    def _is_old(self, message: Message, received: datetime) -> bool:
        """Whether it was sent before this process began. Its date is by Telegram's clock."""
        began = self._since + self._offset
        is_early = received - self._since < OLD_UPDATES_COME_WITHIN
        return is_early and message.date < began - timedelta(seconds=1)

    async def _warn(self, update: Update, chat: Chat, moment: datetime) -> None:
        pace, may_go_on_at = self._paces[chat.id], self.again_at(chat.id)
        needs_warning = pace.needs_warning(moment)
        user = update.effective_user
        pace.t = pace.t or await self._translator_for(user.id if user is not None else chat.id)
        # From now on, for it may have waited behind others of its chat.
        text = pace.t.plural("limits.messages", max(ceil((may_go_on_at - self._clock.now()).total_seconds()), 1))
        if update.callback_query is not None:
            await self._messenger.answer_press(update.callback_query.id, str(text), alert=True)
        elif needs_warning and chat.type == Chat.PRIVATE:
            pace.warned_at, pace.may_go_on_at = moment, may_go_on_at
            await self._messenger.send_text(chat.id, text, (), priority="talk")

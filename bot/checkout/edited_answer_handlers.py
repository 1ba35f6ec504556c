"""Answer users who edit the text of an answer. Edits aren't read, so what was understood first still counts."""

from collections import OrderedDict
from typing import Final, NamedTuple

from telegram import Update
from telegram.ext import MessageHandler, filters

from bot.checkout.open_draft import DRAFT
from bot.infra.telegram.ui.router import Handler
from bot.infra.telegram.ui.screen import Screen
from bot.users.session import Session, as_handler

MAX_CHATS: Final = 10_000


class _Answer(NamedTuple):
    message_id: int
    text: str
    draft_id: str | None
    """The draft that it answered. None if it answered another question."""
    screen: int | None
    """The message that was shown for it."""


class EditedAnswers:
    """Explain edits of the newest text of a private chat that answered its draft or another question.

    These texts are only in memory. After a restart, an edit gets no explanation.
    """

    def __init__(self) -> None:
        self._newest: OrderedDict[int, _Answer] = OrderedDict()

    async def remember(self, session: Session) -> None:
        """Remember the text of an update that was handled, if it was an answer."""
        typed, draft = session.typed, session[DRAFT]
        draft_id = draft.id if draft is not None and draft.last_update_id == session.update_id else None
        if typed is None or typed.text is None or (draft_id is None and not session.is_answered):
            return
        shown = session.chat.question_message_id
        self._newest[session.chat_id] = _Answer(typed.message_id, typed.text, draft_id, shown)
        self._newest.move_to_end(session.chat_id)
        if len(self._newest) > MAX_CHATS:
            self._newest.popitem(last=False)

    def handler(self) -> Handler:
        """Return the handler of edits in private chats. Support takes those of messages in tickets before it."""
        return MessageHandler(filters.UpdateType.EDITED_MESSAGE & filters.ChatType.PRIVATE, as_handler(self._explain))

    async def _explain(self, session: Session, update: Update) -> None:
        """Say once that the edit isn't read, and show what still counts. Live locations and previews change no text."""
        message, known, draft = update.edited_message, self._newest.get(session.chat_id), session[DRAFT]
        if message is None or known is None or message.message_id != known.message_id:
            return
        if message.text in {None, known.text}:
            return
        del self._newest[session.chat_id]
        if draft is not None and draft.id == known.draft_id:
            session.notice = session.t("checkout.chat.edited")
            await session.show_question()
        elif known.draft_id is None and session.chat.question_message_id == known.screen:
            await session.send_message(Screen(session.t("checkout.chat.edited_above")))

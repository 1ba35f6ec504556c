"""The draft that is open in the chat of an update, loaded with the session."""

from typing import Final

from bot.checkout.draft import HANDLED_BY_DRAFT, OrderDraft
from bot.checkout.repository import DraftRepository
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.users.session import Session, SessionKey

DRAFT: Final = SessionKey[OrderDraft | None]("draft", None)
LATE: Final = SessionKey[bool]("late", default=False)
"""Whether the draft had already taken a later update when this one was loaded."""


async def load_draft(tx: Transaction, session: Session) -> None:
    """Load the chat's open draft, or note why it can't be read. Note whether the update is late for it."""
    if not session.is_private:
        return
    try:
        draft = session[DRAFT] = await DraftRepository(tx).open_of(session.chat_id)
    except RowUnreadable as damage:
        session.damage = damage
        return
    if draft is not None and session.attempt is not None and draft.last_update_id > session.update_id:
        session[LATE] = await InboxRepository(tx).is_earlier_than(session.attempt.item, draft.last_update_id)


def open_draft(session: Session) -> OrderDraft:
    """Return the draft of this session, in a step that has one.

    Raises:
        RuntimeError: no draft is open.
    """
    draft = session[DRAFT]
    if draft is None:
        raise RuntimeError("the conversation was entered without a draft")
    return draft


def is_late(session: Session) -> bool:
    """Return whether the user acted on this draft in a later update, which arrived before this one.

    The ids of updates tell that only for minutes, and only for one bot at one server.
    """
    draft = session[DRAFT]
    return draft is not None and session[LATE] and session.now < draft.expires_at


def is_replayed(session: Session) -> bool:
    """Return whether the draft has already taken this update, before a crash or in an attempt that failed.

    The order of ids says nothing: after a week without updates, Telegram begins at a random id.
    """
    draft = session[DRAFT]
    took_now = draft is not None and draft.last_update_id == session.update_id
    return took_now or session.handled_by == HANDLED_BY_DRAFT

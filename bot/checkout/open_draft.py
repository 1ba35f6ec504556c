"""What checkout loads with the session of an update: the open draft, and of its user saved recipients and orders."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.checkout.draft import HANDLED_BY_DRAFT, OrderDraft, RequestTerms, Step, new_draft
from bot.checkout.repository import DraftRepository
from bot.core.errors import Remark
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.orders.limits import DAY
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.recipients.model import SavedRecipient, find_saved
from bot.recipients.service import find_recipients
from bot.users.session import Session, SessionKey

DRAFT: Final = SessionKey[OrderDraft | None]("draft", None)
DOUBT: Final = SessionKey[Remark | None]("doubt", None)
"""Why the bot asks whether the answer is meant so."""

LATE: Final = SessionKey[bool]("late", default=False)
"""Whether the draft had already taken a later update when this one was loaded."""

RECIPIENTS: Final = SessionKey[Sequence[SavedRecipient] | None]("recipients", None)
USER_ORDERS: Final = SessionKey[Sequence[Order] | None]("user_orders", None)
PRICE_FOLLOWS: Final = frozenset({Step.HOLDER, Step.AMOUNT, Step.REVIEW})
"""Steps whose answer is followed by prices within the user's limits, or by the order."""


async def load_draft(tx: Transaction, session: Session) -> None:
    """Load the chat's open draft with what its answer needs. Note why it can't be read, or that the update is late."""
    if not session.is_private:
        return
    try:
        draft = session[DRAFT] = await DraftRepository(tx).open_of(session.chat_id)
    except RowUnreadable as damage:
        session.damage = damage
        return
    if draft is not None and session.attempt is not None and draft.last_update_id > session.update_id:
        session[LATE] = await InboxRepository(tx).is_earlier_than(session.attempt.item, draft.last_update_id)
    await _load_sender(tx, session, draft)


def draft_of(session: Session, terms: RequestTerms | None = None) -> OrderDraft:
    """Return an empty draft for the session's chat. With `terms`, it is one of a payment request."""
    draft = new_draft(chat_id=session.chat_id, user_id=session.user.id, now=session.now)
    return replace(draft, terms=terms)


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


async def _load_sender(tx: Transaction, session: Session, draft: OrderDraft | None) -> None:
    """Load with the open draft what this update probably needs.

    A typed answer can name a recipient. After the name, the amount is asked, with what they got last.
    """
    begins = _may_begin(session)
    if begins or (draft is not None and (session.query_id is None or draft.step is Step.HOLDER)):
        session[RECIPIENTS] = await find_recipients(tx, session.user.id)
    if begins or (draft is not None and draft.step in PRICE_FOLLOWS):
        session[USER_ORDERS] = await _read_user_orders(tx, session)


def _may_begin(session: Session) -> bool:
    """Return whether a message may begin an order: `/send`, or a line with a figure."""
    text = session.typed.text or "" if session.typed else ""
    return text.startswith("/send") or (session[DRAFT] is None and any(map(str.isdigit, text)))


async def get_recipients(session: Session) -> Sequence[SavedRecipient]:
    """Return the user's saved recipients, the last used first, as this update has read them first."""
    known = session[RECIPIENTS]
    if known is None:
        async with session.infra.database.reading() as tx:
            known = session[RECIPIENTS] = await find_recipients(tx, session.user.id)
    return known


async def get_user_orders(session: Session) -> Sequence[Order]:
    """Return the user's orders that may count for their limits, and the newest, as this update has read them first."""
    user_orders = session[USER_ORDERS]
    if user_orders is None:
        async with session.infra.database.reading() as tx:
            user_orders = session[USER_ORDERS] = await _read_user_orders(tx, session)
    return user_orders


async def find_last_order(session: Session, draft: OrderDraft) -> Order | None:
    """Return the user's last order to the recipient of a draft. None if they aren't saved, or for a payment request."""
    saved = () if draft.terms is not None or draft.number is None else await get_recipients(session)
    if draft.method is None or draft.number is None or find_saved(saved, draft.method, draft.number) is None:
        return None
    async with session.infra.database.reading() as tx:
        return await OrderRepository(tx).last_to(session.user.id, draft.method, draft.number)


async def _read_user_orders(tx: Transaction, session: Session) -> Sequence[Order]:
    return await OrderRepository(tx).counted_and_newest(session.user.id, session.now - DAY)

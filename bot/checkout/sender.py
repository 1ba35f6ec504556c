"""What the conversation reads of its user besides the draft: saved recipients and orders, each once for an update."""

from collections.abc import Sequence
from typing import Final

from bot.checkout.draft import Step
from bot.checkout.open_draft import DRAFT
from bot.infra.db.transaction import Transaction
from bot.orders.limits import DAY
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.recipients.model import SavedRecipient
from bot.recipients.service import find_recipients
from bot.users.session import Session, SessionKey

PRICE_FOLLOWS: Final = frozenset({Step.HOLDER, Step.AMOUNT, Step.REVIEW})
"""Steps whose answer is followed by prices within the user's limits, or by the order."""

RECIPIENTS: Final = SessionKey[Sequence[SavedRecipient] | None]("recipients", None)
PLACED: Final = SessionKey[Sequence[Order] | None]("placed", None)


async def load_sender(tx: Transaction, session: Session) -> None:
    """Load with the open draft what this update probably needs. A typed answer can name a recipient."""
    draft, begins = session[DRAFT], _may_begin(session)
    if begins or (draft is not None and session.query_id is None):
        session[RECIPIENTS] = await find_recipients(tx, session.user.id)
    if begins or (draft is not None and draft.step in PRICE_FOLLOWS):
        session[PLACED] = await _read_placed(tx, session)


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


async def get_placed(session: Session) -> Sequence[Order]:
    """Return the user's orders that may count for their limits, and the newest, as this update has read them first."""
    placed = session[PLACED]
    if placed is None:
        async with session.infra.database.reading() as tx:
            placed = session[PLACED] = await _read_placed(tx, session)
    return placed


async def _read_placed(tx: Transaction, session: Session) -> Sequence[Order]:
    return await OrderRepository(tx).counted_and_newest(session.user.id, session.now - DAY)

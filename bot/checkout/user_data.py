"""Drafts as a user's data: shown, exported, deleted, and pruned once they can't be resumed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select

from bot.checkout.draft import DraftStatus, OrderDraft, Refusal, RequestTerms
from bot.checkout.repository import DraftRepository
from bot.checkout.tables import IS_CLOSED_DRAFT, drafts
from bot.infra.db.columns import constant
from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Translator
from bot.recipients.user_data import method_json
from bot.users.user_data import JsonObject, Rows, StoredData, UserData, count_rows, format_time

KEEP_CLOSED_DRAFTS = timedelta(hours=48)
"""How long a closed draft is kept. Until then it can be resumed, and its buttons show what happened to it."""


@dataclass(frozen=True, slots=True)
class StoredDrafts(StoredData):
    """A user's drafts. Those that became orders aren't counted: the orders are."""

    begun: int

    def records(self, t: Translator) -> Sequence[str]:
        """Return how many were begun."""
        return (t.plural("checkout.privacy.drafts", self.begun),) if self.begun else ()


async def stored(tx: Transaction, user_id: int) -> StoredDrafts:
    """Return the drafts of a user."""
    is_not_placed = drafts.c.status != constant(DraftStatus.PLACED)
    return StoredDrafts(await count_rows(tx, drafts, user_id, is_not_placed))


async def is_busy(tx: Transaction, user_id: int) -> bool:
    """Return whether the user is filling in an order: it is finished, or expires."""
    return await DraftRepository(tx).has_open(user_id)


async def export(tx: Transaction, user_id: int, limit: int, offset: int) -> Sequence[JsonObject]:
    """Return drafts for the exported file."""
    return [export_draft(each) for each in await DraftRepository(tx).of_user(user_id, limit=limit, offset=offset)]


async def delete_user(tx: Transaction, user_id: int, _now: datetime) -> None:
    """Delete the user's drafts."""
    await tx.connection.execute(delete(drafts).where(drafts.c.user_id == user_id))


async def prune(tx: Transaction, now: datetime, kept: timedelta | None, limit: int) -> int:
    """Delete drafts that were closed too long ago."""
    return await delete_closed(tx, now - min(KEEP_CLOSED_DRAFTS, kept or KEEP_CLOSED_DRAFTS), limit)


async def delete_closed(tx: Transaction, before: datetime, limit: int) -> int:
    """Delete drafts that were closed, and would have expired before. Return how many."""
    closed = select(drafts.c.id).where(IS_CLOSED_DRAFT, drafts.c.expires_at < before)
    first = closed.order_by(drafts.c.expires_at).limit(limit)
    return (await tx.connection.execute(delete(drafts).where(IS_CLOSED_DRAFT, drafts.c.id.in_(first)))).rowcount


def export_draft(draft: OrderDraft) -> JsonObject:
    """Return a draft for the exported file."""
    return {
        "status": str(draft.status),
        "destination": method_json(draft.method) if draft.method else None,
        "number": draft.number,
        "number_in_doubt": draft.doubtful_number,
        "holder": draft.holder,
        "amount": {"amount": draft.amount.value, "currency": draft.amount.currency} if draft.amount else None,
        "paid_by": draft.channel,
        "put_away_at": format_time(draft.expires_at),
        "last_refusal": _refusal(draft.refusal) if draft.refusal else None,
        "payment_request": _terms(draft.terms) if draft.terms else None,
    }


def _terms(terms: RequestTerms) -> JsonObject:
    return {
        "payer_decides": terms.payer_decides,
        "note": terms.note,
        "can_be_paid_many_times": terms.is_reusable,
        "ends_at": format_time(terms.ends_at),
    }


def _refusal(refusal: Refusal) -> JsonObject:
    return {"question": str(refusal.step), "reason": refusal.key, "at": format_time(refusal.at)}


USER_DATA = UserData(
    feature="checkout",
    rows={"drafts": Rows(drafts, export)},
    stored=stored,
    is_busy=is_busy,
    delete_user=delete_user,
    prune=prune,
)

"""Drafts in `/privacy`, and when nobody is deleted."""

from bot.checkout.draft import DraftStatus
from bot.checkout.repository import DraftRepository
from bot.checkout.tables import drafts
from bot.infra.db.columns import constant
from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import count_rows
from bot.users.user_data import StoredData, UserData


def stored_drafts(count: int) -> StoredData:
    """Return how many drafts were begun."""
    return StoredData(key="checkout.privacy.drafts", count=count)


async def stored(tx: Transaction, user_id: int) -> StoredData:
    """Return the drafts of a user. Those that became orders aren't counted: the orders are."""
    is_not_placed = drafts.c.status != constant(DraftStatus.PLACED)
    return stored_drafts(await count_rows(tx, drafts, user_id, is_not_placed))


async def is_busy(tx: Transaction, user_id: int) -> bool:
    """Return whether the user is filling in an order: it is finished, or expires."""
    return await DraftRepository(tx).has_open(user_id)


USER_DATA = UserData(stored=stored, is_busy=is_busy)

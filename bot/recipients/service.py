"""Save the recipients that users send to, and let users name, correct and delete theirs."""

import secrets
from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.recipients.model import Recipient, SavedRecipient, find_saved
from bot.recipients.repository import RecipientRepository
from bot.users.model import User
from bot.users.repository import UserRepository

MAX_UNNAMED: Final = 50
"""Recipients without a name of the user's. If there are more, those unused for longest are deleted."""

MAX_NAMED: Final = 100
"""Recipients with a name of the user's. They are never deleted automatically for lack of space."""

_ALL: Final = MAX_UNNAMED + MAX_NAMED + 1


class TooManyNamed(Exception):
    """The user already has the maximum of named recipients."""


class RecipientService:
    """Read and change the recipients of one user. Other users' recipients are out of reach."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_all(self, user_id: int) -> tuple[SavedRecipient, ...]:
        """Return all recipients of a user, the last used first."""
        async with self._database.reading() as tx:
            return await find_recipients(tx, user_id)

    async def get(self, user_id: int, recipient_id: str) -> SavedRecipient | None:
        """Return a recipient of a user. None if it doesn't exist, or belongs to another user."""
        async with self._database.reading() as tx:
            return await _find_own(tx, user_id, recipient_id)

    async def rename(self, user: User, recipient_id: str, label: str | None) -> SavedRecipient | None:
        """Set or remove a recipient's name, and save `user`.

        Returns None if the recipient no longer exists.

        Raises:
            TooManyNamed: nothing was saved.
        """
        async with self._database.transaction() as tx:
            every = await find_recipients(tx, user.id)
            named = sum(each.label is not None and each.id != recipient_id for each in every)
            if label is not None and named >= MAX_NAMED:
                raise TooManyNamed
            return await _change(tx, user, recipient_id, label=label)

    async def set_holder(self, user: User, recipient_id: str, holder: str | None) -> SavedRecipient | None:
        """Set or remove the holder's name, and save `user`. Return None if the recipient no longer exists."""
        async with self._database.transaction() as tx:
            return await _change(tx, user, recipient_id, holder=holder)

    async def delete(self, user_id: int, recipient_id: str) -> bool:
        """Delete a recipient, and return whether it existed."""
        async with self._database.transaction() as tx:
            known = await _find_own(tx, user_id, recipient_id)
            if known is not None:
                await RecipientRepository(tx).delete(known.id)
        return known is not None


async def find_recipients(tx: Transaction, user_id: int) -> tuple[SavedRecipient, ...]:
    """Return all recipients of a user, the last used first."""
    return await RecipientRepository(tx).find_by_user(user_id, limit=_ALL)


async def save_recipient(tx: Transaction, user_id: int, recipient: Recipient, at: datetime) -> None:
    """Save the recipient of an order placed at `at`, in the transaction that saves the order.

    A known recipient is updated. An order without a holder's name doesn't remove a saved one.
    """
    every = await find_recipients(tx, user_id)
    known = find_saved(every, recipient.method, recipient.number)
    if known is None:
        known = SavedRecipient(
            id=secrets.token_hex(8),
            user_id=user_id,
            method=recipient.method,
            number=recipient.number,
            created_at=at,
            last_used_at=at,
        )
        unnamed = [each for each in every if each.label is None]
        for oldest in unnamed[MAX_UNNAMED - 1 :]:
            await RecipientRepository(tx).delete(oldest.id)
    last_used_at = max(known.last_used_at, at)
    await RecipientRepository(tx).save(
        replace(known, method=recipient.method, holder=recipient.holder or known.holder, last_used_at=last_used_at)
    )


async def _find_own(tx: Transaction, user_id: int, recipient_id: str) -> SavedRecipient | None:
    known = await RecipientRepository(tx).get(recipient_id)
    return known if known is not None and known.user_id == user_id else None


async def _change(tx: Transaction, user: User, recipient_id: str, **changes: str | None) -> SavedRecipient | None:
    known = await _find_own(tx, user.id, recipient_id)
    await UserRepository(tx).save(user)
    if known is None:
        return None
    changed = replace(known, **changes)  # type: ignore[arg-type]
    await RecipientRepository(tx).save(changed)
    return changed

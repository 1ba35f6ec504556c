"""Remember whom a user has sent to. Only the user names, corrects and deletes their recipients."""

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
"""Recipients that the user hasn't named: of more than these, the longest unused are deleted."""

MAX_NAMED: Final = 100
"""So many may have a name; none of them is ever deleted to make room."""

_ALL: Final = MAX_UNNAMED + MAX_NAMED + 1


class TooManyNamed(Exception):
    """The user has given as many names as are kept."""


class RecipientService:
    """Read and change the recipients of one user. Nobody sees or changes those of another."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_all(self, user_id: int) -> tuple[SavedRecipient, ...]:
        """Return all of them, the last used first."""
        async with self._database.reading() as tx:
            return await RecipientRepository(tx).find_by_user(user_id, limit=_ALL)

    async def get(self, user_id: int, recipient_id: str) -> SavedRecipient | None:
        """Return one of them; None where it was deleted, or belongs to another user."""
        async with self._database.reading() as tx:
            return await _find_own(tx, user_id, recipient_id)

    async def rename(self, user: User, recipient_id: str, label: str | None) -> SavedRecipient | None:
        """Name a recipient, or take its name away, and save `user` with it.

        Returns None where it was deleted meanwhile.

        Raises:
            TooManyNamed: nothing was saved.
        """
        async with self._database.transaction() as tx:
            every = await RecipientRepository(tx).find_by_user(user.id, limit=_ALL)
            named = sum(each.label is not None and each.id != recipient_id for each in every)
            if label is not None and named >= MAX_NAMED:
                raise TooManyNamed
            return await _change(tx, user, recipient_id, label=label)

    async def set_holder(self, user: User, recipient_id: str, holder: str | None) -> SavedRecipient | None:
        """Correct the holder's name, and save `user` with it. Returns None where it was deleted meanwhile."""
        async with self._database.transaction() as tx:
            return await _change(tx, user, recipient_id, holder=holder)

    async def delete(self, user_id: int, recipient_id: str) -> bool:
        """Delete a recipient, and return whether it was still there."""
        async with self._database.transaction() as tx:
            known = await _find_own(tx, user_id, recipient_id)
            if known is not None:
                await RecipientRepository(tx).delete(known.id)
        return known is not None


async def save_recipient(tx: Transaction, user_id: int, recipient: Recipient, at: datetime) -> None:
    """Save whom an order of `at` goes to, in the transaction that saves the order. A recipient is saved once.

    A holder's name that was given is kept; an order without one doesn't remove it.
    """
    every = await RecipientRepository(tx).find_by_user(user_id, limit=_ALL)
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

"""Whom a person has sent to: remembered with each order, named, corrected and forgotten by the person alone."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from bot.core.clock import Clock
from bot.core.text import plain
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.recipients.methods import Recipient
from bot.recipients.model import SavedRecipient
from bot.recipients.repository import RecipientRepository
from bot.settlement.model import PayoutMethod
from bot.users.model import Person
from bot.users.repository import UserRepository

KEPT_UNNAMED = 50
"""Recipients without a name of the person's: of more than these, the longest unused are forgotten."""

MOST_NAMED = 100
"""So many may have a name; none of them is ever forgotten for want of room."""

_EVERY = KEPT_UNNAMED + MOST_NAMED + 1


class TooManyNamed(Exception):
    """The person has given as many names as are kept."""


class KnownRecipients:
    """One person's recipients. Nobody sees or changes those of another."""

    def __init__(self, store: Database, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def of(self, person_id: int) -> tuple[SavedRecipient, ...]:
        """All of them, the last used first."""
        async with self._store.reading() as tx:
            return await RecipientRepository(tx).of_person(person_id, limit=_EVERY)

    async def get(self, person_id: int, recipient_id: str) -> SavedRecipient | None:
        """One of them; None where it was deleted, or is another person's."""
        async with self._store.reading() as tx:
            return await _own(tx, person_id, recipient_id)

    async def name(self, person: Person, recipient_id: str, label: str | None) -> SavedRecipient | None:
        """Give it a name of the person's, or take that away, and save `person` with it.

        None where it was deleted meanwhile. Raises `TooManyNamed`; nothing is saved then.
        """
        async with self._store.transaction() as tx:
            every = await RecipientRepository(tx).of_person(person.id, limit=_EVERY)
            named = sum(each.label is not None and each.id != recipient_id for each in every)
            if label is not None and named >= MOST_NAMED:
                raise TooManyNamed
            return await _change(tx, person, recipient_id, label=label)

    async def hold(self, person: Person, recipient_id: str, holder: str | None) -> SavedRecipient | None:
        """Correct the holder's name, and save `person` with it; None where it was deleted meanwhile."""
        async with self._store.transaction() as tx:
            return await _change(tx, person, recipient_id, holder=holder)

    async def delete(self, person_id: int, recipient_id: str) -> bool:
        """Forget it; whether it was still there."""
        async with self._store.transaction() as tx:
            known = await _own(tx, person_id, recipient_id)
            if known is not None:
                await RecipientRepository(tx).delete(known.id)
        return known is not None


async def remember(tx: Transaction, person_id: int, recipient: Recipient, at: datetime) -> None:
    """Save whom an order of `at` goes to, in the transaction that saves the order. A recipient is saved once.

    A holder's name that was given is kept; that none was given this time doesn't take it away.
    """
    every = await RecipientRepository(tx).of_person(person_id, limit=_EVERY)
    known = known_as(every, recipient.method, recipient.number)
    if known is None:
        known = SavedRecipient(
            id=secrets.token_hex(8),
            person_id=person_id,
            method=recipient.method,
            number=recipient.number,
            created_at=at,
            used_at=at,
        )
        unnamed = [each for each in every if each.label is None]
        for oldest in unnamed[KEPT_UNNAMED - 1 :]:
            await RecipientRepository(tx).delete(oldest.id)
    used_at = max(known.used_at, at)
    await RecipientRepository(tx).save(
        replace(known, method=recipient.method, holder=recipient.holder or known.holder, used_at=used_at)
    )


def known_as(
    recipients: Iterable[SavedRecipient], method: PayoutMethod | None, number: str | None
) -> SavedRecipient | None:
    """The one at this destination (code and name are a pair) with this number; numbers are in the form that is sent."""
    if method is None or not number:
        return None
    return next((each for each in recipients if is_at(each, method) and each.number == number), None)


def is_at(recipient: SavedRecipient, method: PayoutMethod) -> bool:
    """Whether `method` is where this recipient's money goes."""
    return (recipient.method.code, recipient.method.name) == (method.code, method.name)


def current_method(recipient: SavedRecipient, methods: Sequence[PayoutMethod]) -> PayoutMethod | None:
    """The recipient's destination as the live list has it now; None where it isn't there any more."""
    return next((method for method in methods if is_at(recipient, method)), None)


def title(recipient: SavedRecipient) -> str:
    """What the person reads on this recipient's button: their own name for it, else the holder's; perhaps neither."""
    return recipient.label or recipient.holder or ""


def called(recipients: Iterable[SavedRecipient], typed: str) -> tuple[SavedRecipient, ...]:
    """Those whose name is `typed`."""
    wanted = plain(typed).casefold()
    return tuple(each for each in recipients if wanted and plain(title(each)).casefold() == wanted)


def beginning(recipients: Iterable[SavedRecipient], typed: str) -> tuple[SavedRecipient, ...]:
    """Those whose name begins with `typed`."""
    wanted = plain(typed).casefold()
    return tuple(each for each in recipients if wanted and plain(title(each)).casefold().startswith(wanted))


async def _own(tx: Transaction, person_id: int, recipient_id: str) -> SavedRecipient | None:
    known = await RecipientRepository(tx).get(recipient_id)
    return known if known is not None and known.person_id == person_id else None


async def _change(tx: Transaction, person: Person, recipient_id: str, **changes: str | None) -> SavedRecipient | None:
    known = await _own(tx, person.id, recipient_id)
    await UserRepository(tx).save(person)
    if known is None:
        return None
    changed = replace(known, **changes)  # type: ignore[arg-type]
    await RecipientRepository(tx).save(changed)
    return changed

"""Saved replies: their names, their texts with variables, and changes of them, which the audit log records."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Final

from bot.core import templates
from bot.core.clock import Clock
from bot.core.errors import Rejection
from bot.core.locales import LOCALES
from bot.core.text import plain
from bot.infra.db.database import Database
from bot.orders.order import Order, OrderStatus
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.staff.outcomes import Outcome
from bot.support.model import SavedReply
from bot.support.repository import SavedReplyRepository
from bot.users.model import User
from bot.users.repository import UserRepository

VARIABLES: Final = ("reference", "ticket", "amount", "destination")
"""The references of the order and the ticket, the amount in rupiah, and the masked destination."""

OF_ORDERS: Final = frozenset({"reference", "amount", "destination"})
"""The variables that need a ticket about an order."""

_IN_PROGRESS: Final = frozenset({OrderStatus.PAID, OrderStatus.CONVERTING, OrderStatus.SENDING})
_UNCERTAIN: Final = frozenset({OrderStatus.PLACING, OrderStatus.CHECKING, OrderStatus.UNRESOLVED})
_NOT_CREATED: Final = frozenset({OrderStatus.OFFER_OVER, OrderStatus.REFUSED, OrderStatus.CLOSED})
_UNPAID: Final = frozenset({OrderStatus.EXPIRED, OrderStatus.GIVEN_UP, OrderStatus.FAILED_UNPAID})

FITS: Final[Mapping[str, frozenset[OrderStatus | None]]] = {
    "payment-received": _IN_PROGRESS,
    "taking-longer": _IN_PROGRESS,
    "bank-delay": frozenset({OrderStatus.SENT}),
    "done": frozenset({OrderStatus.SENT}),
    "failed-checking": frozenset({OrderStatus.FAILED_PAID}),
    "no-answer-yet": frozenset({OrderStatus.FAILED_PAID, OrderStatus.FAILED_UNKNOWN}),
    "send-proof": frozenset({OrderStatus.FAILED_UNKNOWN, OrderStatus.WAITING, *_UNPAID}),
    "paid-expired": _UNPAID,
    "leave-unpaid": frozenset({OrderStatus.WAITING}),
    "nothing-to-pay": _UNCERTAIN | _NOT_CREATED | {OrderStatus.NEEDS_CONFIRMATION},
    "still-checking": _UNCERTAIN,
    "answer-the-bot": frozenset({OrderStatus.NEEDS_CONFIRMATION}),
    "start-again": _NOT_CREATED,
    "which-order": frozenset({None}),
    "type-again": frozenset({None}),
}
"""The states of an order for which the first saved replies are written, by name. Others fit any state.

None is a ticket about no order.
"""

SUGGESTED: Final = 2

ENDS: Final[Mapping[Outcome, str]] = {
    Outcome.PAID_OUT: "paid-out-late",
    Outcome.REFUNDED: "refunded",
    Outcome.NOT_REFUNDED: "not-refunded",
}
"""The saved reply that tells a user how their order ended. It fits only that end."""

LAST_WORDS: Final = frozenset({"bank-delay", "done", "leave-unpaid", "start-again", *ENDS.values()})
"""Saved replies that leave nothing to answer, so that the ticket can be closed with them."""

MAX_COUNT: Final = 60
"""Maximum number of saved replies."""

MAX_UNITS: Final = 3000 // len(LOCALES)
"""Maximum length of a text, in Telegram's units. One message shows a reply in all languages."""

_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,18}[a-z0-9])")


def read_name(typed: str) -> str:
    """Return a typed name in the form that buttons can hold ("Bank is late" becomes `bank-is-late`).

    Raises:
        Rejection: the name isn't 2 to 20 letters, digits and hyphens.
    """
    name = re.sub(r"[ _-]+", "-", plain(typed).casefold()).strip("-")
    if not _NAME.fullmatch(name):
        raise Rejection("support.saved_reply.name")
    return name


def read_text(html: str) -> str:
    """Return a typed text with its variables checked. Raise `Rejection` as `templates.read` does."""
    return templates.read(html, VARIABLES)


def needs_order(template: str) -> bool:
    """Return whether a text has a variable that only an order can fill."""
    return bool(templates.find_variables(template) & OF_ORDERS)


def fits(name: str, order: Order | None, now: datetime) -> bool:
    """Return whether a saved reply isn't written for other states of the order, or of no order, than the one now."""
    if order is not None and order.outcome is not None:
        return name == ENDS.get(order.outcome) or name not in {*ENDS.values(), *FITS}
    status = order.status(now) if order is not None else None
    return name not in ENDS.values() and status in FITS.get(name, {status})


def suggest(replies: Iterable[SavedReply], locale: str, order: Order | None, now: datetime) -> list[SavedReply]:
    """Return the saved replies in this language that fit the order best, at most two: first those written for it.

    These come as they are listed above, so that the most useful one is the first.
    """
    first = [*ENDS.values(), *FITS]
    fitting = (
        reply
        for reply in replies
        if fits(reply.name, order, now) and (order is not None or not needs_order(reply.texts.get(locale, "")))
    )
    usable = [reply for reply in fitting if locale in reply.texts]
    return sorted(usable, key=lambda each: first.index(each.name) if each.name in first else len(first))[:SUGGESTED]


def hash_text(filled: str) -> str:
    """Return a short hash of a text, to notice if it has changed since its preview."""
    return sha256(filled.encode()).hexdigest()[:8]


class SavedReplyService:
    """Read and change saved replies. The caller has checked that `by` is a support agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def all(self) -> tuple[SavedReply, ...]:
        """Return all saved replies, by name."""
        async with self._database.reading() as tx:
            return await SavedReplyRepository(tx).all()

    async def get(self, name: str) -> SavedReply | None:
        """Return the saved reply with this name."""
        async with self._database.reading() as tx:
            return await SavedReplyRepository(tx).get(name)

    async def check_can_add(self, name: str) -> None:
        """Check that a saved reply with this name can be added.

        Raises:
            Rejection: the name is taken, or there are `MAX_COUNT` saved replies.
        """
        kept = {reply.name for reply in await self.all()}
        if name in kept:
            raise Rejection("support.saved_reply.exists", name=name)
        if len(kept) >= MAX_COUNT:
            raise Rejection("support.saved_reply.too_many", most=MAX_COUNT)

    async def write(self, name: str, locale: str, text: str, by: User) -> SavedReply:
        """Save a text in one language, with the user who typed it, so that the answer isn't taken twice."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            before = await SavedReplyRepository(tx).get(name)
            known = before or SavedReply(name=name, texts={}, updated_at=now, updated_by=by.id)
            reply = replace(known, texts={**known.texts, locale: text}, updated_at=now, updated_by=by.id)
            await SavedReplyRepository(tx).save(reply)
            detail = locale if before else "added"
            await record_audit(tx, by.id, AuditAction.CHANGED, audit_subject(name), now, detail=detail)
            await UserRepository(tx).save(by)
        return reply

    async def delete(self, name: str, by: int) -> bool:
        """Delete a saved reply, and return whether it existed."""
        async with self._database.transaction() as tx:
            deleted = await SavedReplyRepository(tx).delete(name)
            if deleted:
                now = self._clock.now()
                await record_audit(tx, by, AuditAction.CHANGED, audit_subject(name), now, detail="deleted")
        return deleted


def audit_subject(name: str) -> str:
    """Return the subject of a saved reply in the audit log."""
    return f"answer:{name}"

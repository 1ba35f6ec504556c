"""What support leaves behind: what people did, what staff looked at and changed, what was revealed, saved answers."""

# ruff: noqa: D102  names and types say it; the other methods have a docstring

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAct:
    """Something a person did, as an event: never what they wrote. `what` is a word of ours ("pressed.look")."""

    person_id: int
    reference: str = ""
    at: datetime
    what: str


class Acts(Protocol):
    """What people did about their orders."""

    async def add(self, act: PersonAct) -> None: ...
    async def of_order(self, person_id: int, reference: str, since: datetime) -> tuple[PersonAct, ...]:
        """Those about this order, and those about none since then (blocked the bot, came back); oldest first."""
        ...

    async def of_person(self, person_id: int, limit: int = 50) -> tuple[PersonAct, ...]:
        """Newest first."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete older ones; how many."""
        ...


class AuditAction(StrEnum):
    """What staff did."""

    LOOKED = "looked"
    REVEALED = "revealed"
    CLAIMED = "claimed"
    ANSWERED = "answered"
    EDITED = "edited"
    WITHDREW = "withdrew"
    NOTED = "noted"
    CLOSED = "closed"
    BROADCAST = "broadcast"
    CHANGED = "changed"
    EXPORTED = "exported"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Who did what to whom, and when. `subject` names it ("order:R2345AB", "ticket:T-4F7K2", "broadcast:…").

    `person_id` is whom it concerned, 0 for nobody. `detail` is for people to read (a reason that was typed); sealed.
    """

    id: str = ""
    at: datetime
    actor_id: int
    action: AuditAction
    subject: str
    person_id: int = 0
    detail: str = field(default="", repr=False)


class Audit(Protocol):
    """The trail of what staff did: added to, read, and nothing else."""

    async def add(self, entry: AuditEntry) -> None:
        """Write it down; its id is made here, and sorts by time."""
        ...

    async def page(self, *, before: str = "", actor_id: int = 0, limit: int = 10) -> tuple[AuditEntry, ...]:
        """Newest first, from the one before that id; of one actor, or of all (0)."""
        ...

    async def between(self, since: datetime, until: datetime, after: str, limit: int) -> tuple[AuditEntry, ...]:
        """Oldest first, those after that id ("" is the beginning): for a file."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal:
    """A full recipient in front of a member of staff, in their private chat, until it is masked again."""

    id: str
    reference: str
    staff_id: int
    message_id: int | None = None
    at: datetime
    until: datetime
    masked_at: datetime | None = None


class Reveals(Protocol):
    """What is to be masked again, also after a restart."""

    async def add(self, reveal: Reveal) -> None: ...
    async def get(self, reveal_id: str) -> Reveal | None: ...
    async def save(self, reveal: Reveal) -> None: ...
    async def unmasked(self) -> tuple[Reveal, ...]:
        """All that may still be seen, the longest shown first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedReply:
    """An answer to be used again: `texts` by language, with variables in braces."""

    name: str
    texts: Mapping[str, str]
    updated_at: datetime
    updated_by: int


class SavedReplies(Protocol):
    """The answers that support keeps."""

    async def all(self) -> tuple[SavedReply, ...]:
        """By name."""
        ...

    async def get(self, name: str) -> SavedReply | None: ...
    async def save(self, answer: SavedReply) -> None:
        """Insert or replace."""
        ...

    async def delete(self, name: str) -> bool: ...

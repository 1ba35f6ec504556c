"""What support leaves behind: what people did, what staff looked at and changed, what was revealed, saved answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAct:
    """Something a person did, as an event: never what they wrote. `what` is a word of ours ("pressed.look")."""

    person_id: int
    reference: str = ""
    at: datetime
    what: str


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedReply:
    """An answer to be used again: `texts` by language, with variables in braces."""

    name: str
    texts: Mapping[str, str]
    updated_at: datetime
    updated_by: int

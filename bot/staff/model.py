"""Entries of the audit log: what operators and support agents did."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


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
    """Who did what to what, and when. `subject` names it: "order:R2345AB", "ticket:T-4F7K2", "broadcast:…".

    `user_id` is the user concerned, 0 for none. `detail` can be a reason that staff typed. It is stored encrypted.
    """

    id: str = ""
    at: datetime
    actor_id: int
    action: AuditAction
    subject: str
    user_id: int = 0
    detail: str = field(default="", repr=False)

"""Recipients that a user has sent to before."""

from dataclasses import dataclass, field
from datetime import datetime

from bot.settlement.model import PayoutMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRecipient:
    """Somebody whom a person has sent to: kept to be offered again, perhaps under a name of the person's ("Ibu")."""

    id: str
    person_id: int
    method: PayoutMethod
    number: str = field(repr=False)
    holder: str | None = field(default=None, repr=False)
    label: str | None = field(default=None, repr=False)
    created_at: datetime
    used_at: datetime

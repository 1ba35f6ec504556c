"""Orders about which a user missed a message."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedOrder:
    """An order about which a user missed a message. `at` is when Telegram last refused one for good."""

    person_id: int
    reference: str
    at: datetime

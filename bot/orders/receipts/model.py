"""The receipt of an order that was sent."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The verification code of an order that was sent, and its hash. Deleted users' receipts have no code."""

    reference: str
    code: str = field(repr=False)
    code_hash: str
    created_at: datetime

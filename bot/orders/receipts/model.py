"""The receipt of an order that was sent."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The receipt of an order that was sent: its verification code and its hash. A forgotten person's has no code."""

    reference: str
    code: str = field(repr=False)
    code_hash: str
    created_at: datetime

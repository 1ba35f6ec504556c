"""The receipt of a completed order."""

from dataclasses import dataclass, field
from datetime import datetime

from bot.orders.order import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The verification code of a completed order, and its hash. Receipts of deleted users have no code."""

    reference: str
    code: str = field(repr=False)
    code_hash: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SentOrder:
    """A completed order, and the code of its receipt."""

    order: Order
    code: str = field(repr=False)

"""How an order that went wrong ended. Orders know it, too, and the agents' tools load orders without a database."""

from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """How an order that went wrong ended, as staff say. `OTHER` says nothing about the money."""

    PAID_OUT = "paid_out"
    REFUNDED = "refunded"  # the service gave the payment back
    NOT_REFUNDED = "not_refunded"
    OTHER = "otherwise"


MONEY_OUTCOMES: Final = (Outcome.PAID_OUT, Outcome.REFUNDED, Outcome.NOT_REFUNDED)
"""The outcomes that say where the money is. One of them is recorded for a failed order."""

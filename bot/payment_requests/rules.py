"""The settings of payment requests."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentRequestRules:
    """The settings of payment requests.

    Attributes:
        is_on: whether users can ask and pay.
        max_open: how many open requests a user can have. 0 means no limit.
        max_per_day: how many requests a user can make within 24 hours, whatever becomes of them. 0 means no limit.
        operator_name: who runs the bot. Nobody can ask in this name.
        operator_ids: the operators, who hear of reports.
    """

    is_on: bool = True
    max_open: int = 20
    max_per_day: int = 50
    operator_name: str = ""
    operator_ids: frozenset[int] = frozenset()

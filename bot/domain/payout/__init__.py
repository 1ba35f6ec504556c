"""Where rupiah go: payout methods of the live list, finding them, and the numbers they take."""

from bot.domain.payout.comparing import Sameness, mask, same_recipient
from bot.domain.payout.holders import LONGEST_HOLDER, clean_holder, is_same_holder, mask_name
from bot.domain.payout.methods import PayoutMethod, Recipient, display_name
from bot.domain.payout.numbers import CleanNumber, clean_number
from bot.domain.payout.searching import SearchResult, search

__all__ = [
    "LONGEST_HOLDER",
    "CleanNumber",
    "PayoutMethod",
    "Recipient",
    "Sameness",
    "SearchResult",
    "clean_holder",
    "clean_number",
    "display_name",
    "is_same_holder",
    "mask",
    "mask_name",
    "same_recipient",
    "search",
]

"""Where rupiah go: payout methods of the live list, finding them, and the numbers they take."""

from bot.domain.payout.comparing import mask, same_recipient
from bot.domain.payout.holders import LONGEST_HOLDER, clean_holder, mask_name
from bot.domain.payout.methods import PayoutMethod, Recipient, display_name
from bot.domain.payout.numbers import CleanNumber, clean_number
from bot.domain.payout.searching import SearchResult, search

__all__ = [
    "LONGEST_HOLDER",
    "CleanNumber",
    "PayoutMethod",
    "Recipient",
    "SearchResult",
    "clean_holder",
    "clean_number",
    "display_name",
    "mask",
    "mask_name",
    "same_recipient",
    "search",
]

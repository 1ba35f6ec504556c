"""How long transfers take, as far as the bot's own orders show it."""

from dataclasses import dataclass
from datetime import timedelta

from bot.core.sample_size import MIN_SAMPLES


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutTimes:
    """The time from the payment to the payout, over `orders` of them.

    `median` is that of half of them or less, `slow` that of nine in ten or less.
    """

    orders: int
    median: timedelta
    slow: timedelta

    @property
    def is_telling(self) -> bool:
        """Return whether these are enough orders to say anything."""
        return self.orders >= MIN_SAMPLES

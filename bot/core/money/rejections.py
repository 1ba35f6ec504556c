"""Why a typed amount can't be sent."""

from bot.core.errors import Rejection


class AmountRejected(Rejection):
    """The amount can't be sent. Another amount may be possible."""


class AmountUnreadable(AmountRejected):
    """The text isn't an amount."""

    def __init__(self) -> None:
        super().__init__("core.amount.unreadable")


class ForeignCurrency(AmountRejected):
    """The amount is in a currency that we don't send."""

    def __init__(self) -> None:
        super().__init__("core.amount.foreign")

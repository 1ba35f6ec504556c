"""Values of the settlement service's types, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from bot.settlement.errors import KeyRefused, NoAnswer, OrderNotFound, SettlementFailure, SlowDown
from bot.settlement.model import PayoutMethod, Quote
from tests.screens import Outside
from tests.settlement.builders import LISTED_BCA, LISTED_GOPAY, QUOTE


def some_methods(outside: Outside) -> tuple[tuple[PayoutMethod, ...], ...]:
    """Return lists of banks and e-wallets, from an empty one to several pages."""
    others = tuple(replace(LISTED_BCA, code=str(code)) for code in range(20))
    wallets = (LISTED_GOPAY, replace(outside.method, kind="🐖" * 40))
    return (), (outside.method, LISTED_GOPAY), (outside.method, *others, LISTED_GOPAY), (*others, *wallets)


SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    PayoutMethod: lambda outside: (outside.method, LISTED_GOPAY),
    Sequence[PayoutMethod]: some_methods,
    Quote: lambda outside: (QUOTE, replace(QUOTE, usdc_idr=Decimal("16250.5"), source=outside.typed * 20)),
    SettlementFailure: lambda _: (
        OrderNotFound(),
        SlowDown(retry_after=3),
        SlowDown(retry_after=1e300),
        SlowDown(),
        KeyRefused(),
        NoAnswer(),
    ),
}

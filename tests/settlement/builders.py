"""Values of the settlement service for tests."""

from decimal import Decimal
from typing import Any, Final

from bot.core.money import Amount
from bot.payments.tokens import TOKENS
from bot.settlement.model import Deposit, OrderReport, OrderRequest, PayoutMethod, Quote
from tests.screens import NOW

BCA: Final = PayoutMethod("014", "BANK BCA", "bank", 250_000_000)
BRI: Final = PayoutMethod("002", "BANK BRI", "bank", None)
GOPAY: Final = PayoutMethod("gopay", "GOPAY", "ewallet", 10_000_000)
OVO: Final = PayoutMethod("ovo", "OVO", "ewallet", None)

LISTED_BCA: Final = PayoutMethod("014", "BANK CENTRAL ASIA", "bank", 100_000_000)
"""BCA with the name that the live list has, which screens shorten."""
LISTED_GOPAY: Final = PayoutMethod("gopay", "GOPAY", "ewallet", 20_000_000)

QUOTE: Final = Quote(Decimal(1_700_123_456), NOW)
SAFE_ADDRESS: Final = "0x52908400098527886E0F7030069857D2E4169EE7"


def a_deposit(code: str, /, **changes: Any) -> Deposit:
    """Return the instructions for paying with a token."""
    token = TOKENS[code]
    values: dict[str, Any] = {
        "channel": code,
        "chain_id": token.chain.id,
        "chain_name": token.chain.name,
        "token_symbol": token.symbol,
        "token_address": token.contract,
        "to_address": SAFE_ADDRESS,
        "decimals": token.decimals,
    }
    return Deposit(**{**values, **changes})


def a_request(amount: Amount = Amount("IDR", 50_000), **changes: Any) -> OrderRequest:  # noqa: B008  frozen
    """Return a request for an order to a bank."""
    values = {"method": BCA, "number": "1234567890", "holder": None, "channel": "lightning", **changes}
    return OrderRequest(amount=amount, **values)


def a_report(service_id: str = "svc-1", state: str = "IDLE", **details: Any) -> OrderReport:
    """Return the service's record of an order."""
    return OrderReport(service_id=service_id, state=state, **{"sats": 29_412, "idr": 500_000, **details})


def at_any_time() -> bool:
    """Let a request for an order be sent."""
    return True

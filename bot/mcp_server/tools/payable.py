"""The payment of an order, shown only if it is what was agreed: see `orders/placement/invoice_check`.

An invoice must ask for exactly the order's sats, on the right network, and not be expired. A deposit must name a known
token, contract and chain. Anything else isn't shown, because an agent pays what it is shown.
"""

from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from bot.core.money import Amount
from bot.mcp_server.service import AgentRules
from bot.mcp_server.tools.answers import Output
from bot.orders.limits import AmountLimits
from bot.orders.placement.invoice_check import CheckedPayment, Unpayable, check_placed, limit_invoice_time
from bot.payments.erc681 import format_token_amount, transfer_uri, units_for_sats
from bot.payments.qr import invoice_qr_payload
from bot.payments.tokens import LIGHTNING, LIGHTNING_SCHEME, TOKENS
from bot.settlement.adapter import to_deposit, to_placed
from bot.settlement.client import CreatedOrder, Order
from bot.settlement.model import Deposit, OrderReport, Placed
from bot.settlement.steps import STEP_OF_STATE, OrderStep

NOT_AWAITED = "the order isn't waiting for payment"
NOT_ALL_LISTED = (
    "the service's list doesn't show every deposit that can still be paid, and a payment could be taken for another one"
)
USE_LIGHTNING = "Send depositChannel lightning instead: every Lightning invoice is unmistakable."


class DepositOut(Output):
    """How an order is paid with a token."""

    channel: str
    chain_id: int
    chain_name: str
    token_symbol: str
    token_address: str = Field(description="The token's contract.")
    to_address: str = Field(description="The address to send the token to.")
    decimals: int
    amount: str = Field(description="Amount of the token, in decimal.")
    amount_units: str = Field(
        description="The same amount in the token's base units. A string, because it can exceed 2^53."
    )
    qr_value: str = Field(description="ERC-681 request for exactly this transfer, for a wallet to open or scan.")


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment that was checked against the order."""

    bolt11: str | None
    deposit: DepositOut | None
    expires_at: datetime | None
    payment_hash: str | None = None

    @property
    def uri(self) -> str:
        """Return the URI that opens a wallet."""
        return f"{LIGHTNING_SCHEME}{self.bolt11}" if self.deposit is None else self.deposit.qr_value

    @property
    def qr_payload(self) -> str:
        """Return the URI in the form that suits a QR code."""
        return invoice_qr_payload(self.bolt11 or "") if self.deposit is None else self.deposit.qr_value


def check_new_payment(
    created: CreatedOrder, rules: AgentRules, *, requested: Amount, channel: str, allowed: AmountLimits, now: datetime
) -> Payment:
    """Return the payment of a new order. Raise `Unpayable` if it isn't what was requested."""
    placed = to_placed(created)
    shown = check_placed(placed, requested=requested, channel=channel, network=rules.network, allowed=allowed, now=now)
    return _payment(placed, channel, shown, now + rules.pay_within)


def check_known_payment(order: Order, rules: AgentRules, *, allowed: AmountLimits, now: datetime) -> Payment:
    """Return the payment of a listed order. Raise `Unpayable` if there is none, or a wrong one."""
    if not awaits_payment(order):
        raise Unpayable(NOT_AWAITED)
    placed = Placed(
        service_id=order.id,
        sats=order.sat_amount,
        idr=order.idr_amount,
        btc_idr=order.btc_idr,
        bolt11=order.invoice_bolt11,
        deposit=to_deposit(order),
        expires_at=order.invoice_expires_at,
        state=order.state,
    )
    requested, channel = Amount("SAT", order.sat_amount), order.deposit_channel or LIGHTNING
    shown = check_placed(placed, requested=requested, channel=channel, network=rules.network, allowed=allowed, now=now)
    payment = _payment(placed, channel, shown, (order.created_at or now) + rules.pay_within)
    if payment.expires_at is not None and payment.expires_at <= now:
        raise Unpayable(f"the time to pay it ended at {payment.expires_at:%Y-%m-%d %H:%M:%S} UTC")
    return payment


def awaits_payment(order: Order) -> bool:
    """Return whether the service's record says that the order isn't paid yet."""
    return STEP_OF_STATE.get(order.state) == OrderStep.CREATED and order.invoice_paid_at is None


def explain_duplicate(first: OrderReport) -> str:
    """Return why a deposit isn't shown that can be confused with that of the order `first`."""
    return (
        f"order {first.service_id} waits for a deposit of the same amount to the same address, and a payment could be "
        "taken for either. Wait until that order is done, or use another amount or depositChannel lightning"
    )


def _payment(placed: Placed, channel: str, payable: CheckedPayment, pay_by: datetime) -> Payment:
    if channel == LIGHTNING or placed.deposit is None:
        return Payment(payable.bolt11, None, limit_invoice_time(payable, pay_by), payable.payment_hash)
    return Payment(None, _deposit_out(placed.deposit, placed.sats), payable.expires_at)


def _deposit_out(deposit: Deposit, sats: int) -> DepositOut:
    token = TOKENS[deposit.channel]
    return DepositOut(
        channel=token.code,
        chain_id=token.chain.id,
        chain_name=token.chain.name,
        token_symbol=token.symbol,
        token_address=token.contract,
        to_address=deposit.to_address,
        decimals=token.decimals,
        amount=format_token_amount(token, sats),
        amount_units=str(units_for_sats(token, sats)),
        qr_value=transfer_uri(token, deposit.to_address, sats),
    )

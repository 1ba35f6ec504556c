"""What a wallet needs to pay an order: the QR code, the link that opens a wallet, and the parts of a transfer."""

from dataclasses import dataclass, field

from bot.orders.order import Order
from bot.payments import erc681, qr
from bot.payments.tokens import LIGHTNING_SCHEME, Token


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer of tokens: the token, the amount as a payer types it, and the address."""

    token: Token
    amount: str
    to_address: str
    uri: str


@dataclass(frozen=True, slots=True)
class PaymentDetails:
    """How an order is paid. `transfer` is None if `link` is a Lightning invoice."""

    qr: str = field(repr=False)
    link: str = field(repr=False)
    text: str = field(repr=False)
    transfer: Transfer | None = None


def get_payment_details(order: Order) -> PaymentDetails:
    """Return how `order` is paid.

    `orders/placement/invoice_check.py` has checked the invoice or deposit. The expiry isn't checked here.

    Raises:
        ValueError: it has neither an invoice nor a deposit.
        DepositCheckError: no money may be sent to its deposit.
    """
    if order.bolt11 is not None:
        return PaymentDetails(qr.invoice_qr_payload(order.bolt11), f"{LIGHTNING_SCHEME}{order.bolt11}", order.bolt11)
    transfer = get_transfer(order)
    return PaymentDetails(transfer.uri, transfer.uri, transfer.to_address, transfer)


def get_transfer(order: Order) -> Transfer:
    """Return the transfer that pays an order by deposit. Raises as `get_payment_details` does."""
    deposit = order.deposit
    if deposit is None or order.sats is None:
        raise ValueError("an order without an invoice and without a deposit can't be paid")
    token = erc681.check_deposit(
        channel=order.channel,
        chain_id=deposit.chain_id,
        token_address=deposit.token_address,
        decimals=deposit.decimals,
        to_address=deposit.to_address,
    )
    return Transfer(
        token=token,
        amount=erc681.format_token_amount(token, order.sats),
        to_address=deposit.to_address,
        uri=erc681.transfer_uri(token, deposit.to_address, order.sats),
    )

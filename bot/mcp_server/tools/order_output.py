"""The record of an order for agents: the service's fields, without private ones.

The recipient's number and the holder's name are masked, as the contract requires (settlement API, 2.7; the live service
doesn't mask them). An invoice is included only if it is right to pay it. Payment details of the service's own swaps
never are.
"""

from datetime import datetime
from typing import Self

from pydantic import Field

from bot.mcp_server.formats import format_rupiah, format_sats, format_time
from bot.mcp_server.tools.answers import Output
from bot.mcp_server.tools.shown_payment import ShownPayment
from bot.recipients.holders import mask_name
from bot.recipients.matching import mask_number
from bot.settlement.client import Order
from bot.settlement.steps import FAILED, STEP_OF_STATE, OrderStep

IN_WORDS = {
    OrderStep.CREATED: "created, no payment seen yet",
    OrderStep.PAID: "paid",
    OrderStep.CONVERTING: "paid; the bitcoin is being converted",
    OrderStep.SENDING: "paid; the rupiah are being sent",
    OrderStep.SENT: "sent to the bank or e-wallet, where it usually shows within minutes",
}


class OrderOut(Output):
    """An order's record."""

    id: str = Field(description="The order's id, for get_offramp_order and wait_for_offramp_order.")
    state: str = Field(description="The service's state. COMPLETED and FAILED are final. New states may appear.")
    is_terminal: bool = Field(description="Whether the state is final.")
    sat_amount: int
    idr_amount: int
    btc_idr: float | None = None
    btc_idr_fetched_at: datetime | None = None
    deposit_channel: str | None = None
    partner_payout_bank_code: str | None = None
    partner_payout_bank_name: str | None = None
    payout_recipient: str | None = Field(None, description="Masked: only the last digits are shown.")
    bank_account_name: str | None = Field(None, description="Masked.")
    invoice_bolt11: str | None = Field(None, description="Only while the order can be paid and its invoice is correct.")
    invoice_expires_at: datetime | None = Field(None, description="Pay before this time, while the order can be paid.")
    invoice_paid_at: datetime | None = None
    deposit_chain_id: int | None = None
    deposit_token_address: str | None = None
    deposit_to_address: str | None = Field(None, description="Only while the order can be paid.")
    payment_withheld: str | None = Field(None, description="Why this record has nothing to pay.")
    payment_warnings: list[str] = Field(
        default_factory=list, description="What to compare and to ask your user before paying; usually empty."
    )
    ln_swap_tx_hash: str | None = None
    swap_tx_hash: str | None = None
    partner_burn_tx_hash: str | None = None
    partner_redeem_id: str | None = Field(
        None, description="The payout reference: the payout partner's id, for questions about the transfer."
    )
    created_at: datetime | None = None
    updated_at: datetime | None = None
    completed_at: datetime | None = None

    @classmethod
    def from_order(cls, order: Order, shown: ShownPayment) -> Self:
        """Return the record of `order` with its payment."""
        payment = shown.payment
        deposit = payment and payment.deposit
        return cls(
            id=order.id,
            state=order.state,
            is_terminal=order.terminal,
            sat_amount=order.sat_amount,
            idr_amount=order.idr_amount,
            btc_idr=None if order.btc_idr is None else float(order.btc_idr),
            btc_idr_fetched_at=order.btc_idr_fetched_at,
            deposit_channel=order.deposit_channel,
            partner_payout_bank_code=order.partner_payout_bank_code,
            partner_payout_bank_name=order.partner_payout_bank_name,
            payout_recipient=order.payout_recipient and mask_number(order.payout_recipient),
            bank_account_name=order.bank_account_name and mask_name(order.bank_account_name),
            invoice_bolt11=payment and payment.bolt11,
            invoice_expires_at=payment and payment.expires_at,
            invoice_paid_at=order.invoice_paid_at,
            deposit_chain_id=deposit.chain_id if deposit else order.deposit_chain_id,
            deposit_token_address=deposit and deposit.token_address,
            deposit_to_address=deposit and deposit.to_address,
            payment_withheld=shown.why_not,
            payment_warnings=list(shown.warnings),
            ln_swap_tx_hash=order.ln_swap_tx_hash,
            swap_tx_hash=order.swap_tx_hash,
            partner_burn_tx_hash=order.partner_burn_tx_hash,
            partner_redeem_id=order.partner_redeem_id,
            created_at=order.created_at,
            updated_at=order.updated_at,
            completed_at=order.completed_at,
        )


def order_line(order: Order) -> str:
    """Return one line about an order."""
    to = f" to {order.partner_payout_bank_name}" if order.partner_payout_bank_name else ""
    made = f", created {format_time(order.created_at)}" if order.created_at else ""
    receives, costs = format_rupiah(order.idr_amount), format_sats(order.sat_amount)
    return f"{order.id}: {receives}{to} for {costs}{made} · {state_in_words(order.state)}"


def state_in_words(state: str) -> str:
    """Return a state and its meaning."""
    if state == FAILED:
        return (
            "FAILED: the payout failed and won't be retried. If it was paid, don't pay again and don't create the order"
            " again: the user must contact the operator"
        )
    step = STEP_OF_STATE.get(state)
    return (
        f"{state}: {IN_WORDS[step]}"
        if step is not None
        else f"{state}: in progress (a state that this server doesn't know)"
    )

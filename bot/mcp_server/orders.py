"""Orders for agents: their records, and the tools that read one, the newest, and one until it ends.

The recipient's number and the holder's name are masked, as the contract requires (settlement API, 2.7; the live service
doesn't mask them). An invoice is included only if it is right to pay it. Payment details of the service's own swaps
never are.
"""

import asyncio
from contextvars import ContextVar
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Final, Self

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from bot.mcp_server import arguments as args
from bot.mcp_server.answers import (
    Output,
    Refusal,
    answer,
    describe_order,
    format_price,
    format_rupiah,
    format_time,
    qr_code,
)
from bot.mcp_server.payments import NOT_AWAITED, ShownPayment, payment_lines, shown_payment, shown_payments
from bot.mcp_server.service import Service
from bot.mcp_server.unresolved_orders import APPEARS_WITHIN, Listing, Request
from bot.recipients.holders import mask_name
from bot.recipients.numbers import mask_number
from bot.settlement.client import wait_for_order
from bot.settlement.errors import WaitAborted, WaitTimeout
from bot.settlement.model import FAILED, STEP_OF_STATE, OrderReport, OrderStep

HUNG_UP: Final[ContextVar[asyncio.Event | None]] = ContextVar("caller_hung_up", default=None)
"""What is set when the caller hangs up. None over stdio, where the process ends with its client."""

SLACK_SECONDS = 1.0
MOST_NAMED = 5
IN_WORDS = {
    OrderStep.CREATED: "created, no payment seen yet",
    OrderStep.PAID: "paid",
    OrderStep.CONVERTING: "paid; the bitcoin is being converted",
    OrderStep.SENDING: "paid; the rupiah are being sent",
    OrderStep.SENT: "sent to the bank or e-wallet, where it usually shows within minutes",
}


def has_hung_up() -> bool:
    """Return whether the caller has hung up. Over stdio always False."""
    hung_up = HUNG_UP.get()
    return hung_up is not None and hung_up.is_set()


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
    def from_order(cls, order: OrderReport, shown: ShownPayment) -> Self:
        """Return the record of `order` with its payment."""
        payment = shown.payment
        deposit = payment and payment.deposit
        known = order.deposit
        own = {
            "id": order.service_id,
            "state": order.state,
            "is_terminal": order.is_terminal,
            "sat_amount": order.sats,
            "idr_amount": order.idr,
            "btc_idr": order.btc_idr,
            "deposit_channel": order.channel,
            "partner_payout_bank_code": order.bank_code,
            "partner_payout_bank_name": order.bank_name,
            "payout_recipient": order.recipient and mask_number(order.recipient),
            "bank_account_name": order.holder and mask_name(order.holder),
            "invoice_bolt11": payment and payment.bolt11,
            "invoice_expires_at": payment and payment.expires_at,
            "invoice_paid_at": order.paid_at,
            "deposit_chain_id": (known and known.chain_id) or None,
            "deposit_token_address": deposit and deposit.token_address,
            "deposit_to_address": deposit and deposit.to_address,
            "payment_withheld": shown.why_not,
            "payment_warnings": shown.warnings,
            "created_at": order.created_at,
            "updated_at": order.updated_at,
            "completed_at": order.completed_at,
        }
        return cls.model_validate(asdict(order.record) | own)


def order_line(order: OrderReport) -> str:
    """Return one line about an order."""
    to = f" to {order.bank_name}" if order.bank_name else ""
    made = f", created {format_time(order.created_at)}" if order.created_at else ""
    receives, costs = format_rupiah(order.idr), format_price(order.sats, order.channel)
    return f"{order.service_id}: {receives}{to} for {costs}{made} · {state_in_words(order.state)}"


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


class OrdersOut(Output):
    """The newest orders."""

    orders: list[OrderOut] = Field(description="Newest first. A missing order may still exist.")
    warnings: list[str] = Field(
        default_factory=list, description="Orders with an unknown outcome that this list can't settle; usually empty."
    )


class WaitedOut(OrderOut):
    """An order after waiting for it."""

    timed_out: bool = Field(default=False, description="Whether timeoutSeconds passed before the order ended.")


def unsettled_warning(unknown: list[Request]) -> str:
    """Return which orders still have an unknown outcome after a list was read, and what to do."""
    named = [describe_order(each) for each in unknown[:MOST_NAMED]]
    more = len(unknown) - len(named)
    return (
        f"The outcome is still unknown of: {'; '.join([*named, *([f'{more} more'] if more else [])])}. This list can't "
        "settle it, so the same order isn't created again. Call list_offramp_orders with limit 100, "
        f"{APPEARS_WITHIN:.0f} seconds or more after the failed call. If more than 100 orders were created since then, "
        "the list doesn't reach back far enough: tell your user to ask the operator of this server."
    )


class OrderTools:
    """The tools that read orders."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def get_offramp_order(
        self,
        orderId: args.OrderId,
        includeQr: args.IncludeQr = False,  # noqa: FBT002  arguments travel by name
    ) -> Annotated[CallToolResult, OrderOut]:
        """Get the state of one order. Call it about every 5 seconds until state is COMPLETED or FAILED.

        COMPLETED means that the rupiah were sent to the bank, which usually shows them within minutes. An order may be
        paid before its state shows it: never tell a user that a payment didn't arrive.
        """
        return await self._answer(await self._service.order(orderId), OrderOut, include_qr=bool(includeQr))

    async def list_offramp_orders(
        self, limit: args.Limit = args.USUALLY_LISTED
    ) -> Annotated[CallToolResult, OrdersOut]:
        """List the newest orders of this server's account, newest first.

        Call it when the outcome of create_offramp_order is unknown, with limit 100. A missing order may still exist.
        """
        listing = await self._service.orders(limit or args.USUALLY_LISTED)
        orders = listing.listed.reports
        shown_list = await shown_payments(self._service, orders)
        rows = [OrderOut.from_order(order, shown) for order, shown in zip(orders, shown_list, strict=True)]
        lines = [order_line(order) for order in orders] or [
            "None listed. That proves nothing: a missing order may still exist."
        ]
        warnings = self._settle(listing)
        return answer(
            OrdersOut(orders=rows, warnings=warnings),
            "\n".join([f"{len(rows)} {'order' if len(rows) == 1 else 'orders'}, newest first:", *lines, *warnings]),
        )

    def _settle(self, listing: Listing) -> list[str]:
        """Forget the orders that this list settles. Return what to do about the others.

        A list that doesn't reach its caller settles nothing.
        """
        if not has_hung_up():
            self._service.unresolved.finish_listing(listing)
        unknown = self._service.unresolved.unknown()
        return [unsettled_warning(unknown)] if unknown else []

    async def wait_for_offramp_order(
        self, orderId: args.OrderId, ctx: Context, timeoutSeconds: args.WaitSeconds = args.USUAL_WAIT
    ) -> Annotated[CallToolResult, WaitedOut]:
        """Wait until an order is COMPLETED or FAILED, or until timeoutSeconds. Reports progress.

        Use it instead of calling get_offramp_order repeatedly. Cancelling it doesn't change the order. If timedOut is
        true, the order is still in progress: call again.
        """
        seconds = timeoutSeconds or args.USUAL_WAIT
        watched = _Watched(self._service, ctx, seconds)
        try:
            async with asyncio.timeout(seconds + SLACK_SECONDS):
                ended = await wait_for_order(
                    watched,
                    orderId,
                    timeout=seconds,
                    abort=HUNG_UP.get(),
                    clock=self._service.seconds,
                    sleep=self._service.sleep,
                )
        except (WaitTimeout, TimeoutError):
            if watched.last is None:
                raise Refusal("The order couldn't be read in this time. Nothing was changed. Call again.") from None
            return await self._answer(watched.last, WaitedOut, timed_out=True)
        except WaitAborted:
            raise Refusal("The caller hung up, so waiting for this order ended. Nothing was changed.") from None
        return await self._answer(ended, WaitedOut)

    async def _answer(
        self, order: OrderReport, form: type[OrderOut], *, include_qr: bool = False, timed_out: bool = False
    ) -> CallToolResult:
        shown = await shown_payment(self._service, order)
        payment = shown.payment
        record = form.from_order(order, shown)
        if timed_out:
            record = record.model_copy(update={"timed_out": True})
        lines = [order_line(order)]
        if payment is not None:
            lines += [*shown.warnings, *payment_lines(payment.bolt11, payment.deposit, payment.expires_at)]
        elif include_qr or shown.why_not != NOT_AWAITED:
            lines.append(f"Nothing to pay: {shown.why_not}.")
        return answer(
            record, "\n".join(lines), *([await qr_code(payment.qr_payload)] if include_qr and payment else [])
        )


class _Watched:
    """Read an order for a waiting caller, and report each read to the client."""

    def __init__(self, service: Service, context: Context, seconds: int) -> None:
        self.last: OrderReport | None = None
        self._service, self._context, self._seconds = service, context, seconds
        self._begun = service.seconds()

    async def look_up(self, order_id: str) -> OrderReport:
        self.last = await self._service.order(order_id)
        passed = min(self._service.seconds() - self._begun, float(self._seconds))
        await self._context.report_progress(passed, self._seconds, state_in_words(self.last.state))
        return self.last

"""The tool that makes an order. Its checks come first, the service is asked once, and what it answers is judged."""

from datetime import datetime
from typing import Annotated

import structlog
from mcp_types import CallToolResult
from pydantic import Field

from bot.actions.verdict import TOO_GOOD_PERCENT, Unpayable
from bot.agent_tools import arguments as take
from bot.agent_tools.answers import Output, Refusal, answer
from bot.agent_tools.doubts import Doubtful, request_of
from bot.agent_tools.failures import creation_failure, read_failure, unknown_outcome
from bot.agent_tools.payable import DepositOut, Payment, payment_of_new
from bot.agent_tools.rates import rails_out
from bot.agent_tools.service import Service
from bot.agent_tools.telling import moment, qr_code, rupiah, sats
from bot.agent_tools.wishes import (
    check_limits,
    holder_in,
    matching,
    not_listed,
    number_for,
    one_amount,
)
from bot.domain.money import Amount
from bot.domain.quote import Estimate, Quote, estimate, price_drift_percent
from bot.settlement import CreatedOrder, OrderInput, PayoutMethod, SettlementError
from bot.settlement.states import LIGHTNING

log = structlog.get_logger(__name__)


class CreatedOut(Output):
    """An order that was made, and how to pay it."""

    order_id: str = Field(description="For get_offramp_order and wait_for_offramp_order.")
    bolt11: str | None = Field(None, description="The Lightning invoice to pay; null for cbbtc and btcb.")
    sat_amount: int = Field(description="Exactly what is to be paid, in sats.")
    idr_amount: int = Field(description="What the recipient receives, in rupiah.")
    btc_idr: float | None = Field(None, description="The locked rate: rupiah for one bitcoin.")
    fetched_at: datetime | None = Field(None, description="When that rate was fetched.")
    invoice_expires_at: datetime | None = Field(None, description="Don't pay later than this; null: no expiry.")
    deposit: DepositOut | None = Field(None, description="How to pay with cbBTC or BTCB; null for lightning.")
    payment_uri: str = Field(description="The same as a link that opens a wallet.")
    warnings: list[str] = Field(description="What your user should know before paying; most often empty.")


class Ordering:
    """The one tool that changes something."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def create_offramp_order(  # noqa: PLR0917  the document's own inputs
        self,
        partnerBankCode: take.BankCode,
        partnerBankName: take.BankName,
        recipientDetails: take.RecipientDetails,
        satAmount: take.SatAmount = None,
        idrAmount: take.IdrAmount = None,
        bankAccountName: take.AccountName = None,
        depositChannel: take.DepositChannel = "lightning",
        payoutMethod: take.PayoutKind = None,  # noqa: ARG002  reserved by the service, with one value
        includeQr: take.IncludeQr = False,  # noqa: FBT002  arguments travel by name
    ) -> Annotated[CallToolResult, CreatedOut]:
        """Create an order: rupiah to one bank account or e-wallet, once its invoice or deposit is paid.

        Call list_payout_methods first. Confirm destination, number and amount with your user: a paid order can't be
        taken back. Returns a BOLT11 invoice (lightning) or deposit instructions (cbbtc, btcb); nothing is sent until it
        is paid. Each call makes another order: after an error or a lost answer that doesn't surely say "No order was
        made", never call again before looking at list_offramp_orders. The same order again within ten minutes is
        created only after list_offramp_orders was called.
        """
        given = one_amount(satAmount, idrAmount)
        method = await self._method(partnerBankCode, partnerBankName)
        number = number_for(method, recipientDetails)
        holder = holder_in(bankAccountName)
        expected = await self._expected(given)
        check_limits(method, expected.idr, given, self._service.rules)
        await self._check_channel(depositChannel)
        wish = OrderInput(
            sat_amount=satAmount,
            idr_amount=idrAmount,
            deposit_channel=depositChannel,
            partner_bank_code=method.bank_code,
            partner_bank_name=method.bank_name,
            recipient_details=number.sent,
            bank_account_name=holder,
        )
        created = await self._create(wish, method, _in_words(given, method))
        log.info("order_created", order_id=created.order_id, channel=depositChannel)
        payment = self._payment(created, given, depositChannel, method)
        warnings = [*([number.remark] if number.remark else []), *self._drift_warnings(created, expected)]
        self._service.agree(created.order_id)
        made = _created_out(created, payment, warnings)
        pictures = [await qr_code(payment.qr_payload)] if includeQr else []
        return answer(made, _text(made, method), *pictures)

    async def _method(self, code: str, name: str) -> PayoutMethod:
        try:
            found = matching(await self._service.methods(), code, name)
            if found is None:
                listed = await self._service.methods(fresh=True)
                found = matching(listed, code, name)
        except SettlementError as error:
            raise read_failure(error) from None
        if found is None:
            raise not_listed(listed, code, name)
        return found

    async def _expected(self, given: Amount) -> Estimate:
        """What the amount comes to. Without a rate no order is created: its price couldn't be checked."""
        try:
            quote = await self._service.price()
        except SettlementError as error:
            raise read_failure(error) from None
        return estimate(given, Quote(quote.btc_idr, quote.fetched_at))

    async def _check_channel(self, channel: str) -> None:
        if channel == LIGHTNING:
            return
        try:
            usable = rails_out(await self._service.rails()).channels
        except SettlementError as error:
            raise read_failure(error) from None
        if channel not in usable:
            raise Refusal(f"depositChannel {channel} isn't on offer just now. Send one of: {', '.join(usable)}.")

    async def _create(self, wish: OrderInput, method: PayoutMethod, wanted: str) -> CreatedOrder:
        try:
            with self._service.doubts.sending(request_of(wish, method.kind)) as sending:
                created = await self._service.create(wish)
                sending.order_id = created.order_id
                return created
        except Doubtful as doubt:
            if doubt.order_id is not None:
                raise Refusal(
                    f"The same order was created a short time ago: its orderId is {doubt.order_id}. No other one was "
                    "created. Call get_offramp_order for how to pay it. If your user wants to send the same amount to "
                    "the same recipient once more, call list_offramp_orders first, and then this tool again."
                ) from None
            why = (
                "The same order is being created right now."
                if doubt.is_under_way
                else "The same order was sent before."
            )
            raise Refusal(f"{why} {unknown_outcome(wanted)}") from None
        except SettlementError as error:
            raise creation_failure(error, wanted) from None

    def _payment(self, created: CreatedOrder, given: Amount, channel: str, method: PayoutMethod) -> Payment:
        rules, now = self._service.rules, self._service.clock.now()
        allowed = rules.amounts_up_to(method.max_amount_transfer)
        try:
            return payment_of_new(
                created, given=given, channel=channel, network=rules.network, allowed=allowed, now=now
            )
        except Unpayable as complaint:
            raise self._unshown(created, str(complaint)) from None

    def _unshown(self, created: CreatedOrder, complaint: str) -> Refusal:
        self._service.withhold(created.order_id, complaint)
        log.warning("order_withheld", order_id=created.order_id, why=complaint)
        return Refusal(
            f"Order {created.order_id} was made, but what it asks to be paid isn't what was agreed, so it isn't shown: "
            f"{complaint}. Don't pay this order, wherever its invoice turns up, and tell your user."
        )

    def _drift_warnings(self, created: CreatedOrder, expected: Estimate) -> list[str]:
        drift = price_drift_percent(
            expected_sats=expected.sats,
            expected_idr=expected.idr,
            sats=created.sat_amount,
            idr=created.idr_amount,
        )
        if drift > self._service.rules.stop_percent:
            raise self._unshown(created, f"its price is {drift:.1f}% worse than the quote")
        if drift < -TOO_GOOD_PERCENT:
            better = f"The locked price is {-drift:.1f}% better than the quote of a moment ago"
            return [f"{better}, which can be a mistake. Ask your user before paying."]
        if drift > self._service.rules.warn_percent:
            return [
                f"The locked price is {drift:.1f}% worse than the quote of a moment ago. Ask your user before paying."
            ]
        return []


def _in_words(given: Amount, method: PayoutMethod) -> str:
    amount = rupiah(given.value) if given.currency == "IDR" else sats(given.value)
    return f"{amount} to {method.bank_name}"


def _created_out(created: CreatedOrder, payment: Payment, warnings: list[str]) -> CreatedOut:
    return CreatedOut(
        order_id=created.order_id,
        bolt11=payment.bolt11,
        sat_amount=created.sat_amount,
        idr_amount=created.idr_amount,
        btc_idr=None if created.btc_idr is None else float(created.btc_idr),
        fetched_at=created.fetched_at,
        invoice_expires_at=payment.expires_at,
        deposit=payment.deposit,
        payment_uri=payment.uri,
        warnings=warnings,
    )


def _text(made: CreatedOut, method: PayoutMethod) -> str:
    lines = [
        f"Order {made.order_id}: {rupiah(made.idr_amount)} to {method.bank_name} for {sats(made.sat_amount)}.",
        *made.warnings,
        *payment_lines(made.bolt11, made.deposit, made.invoice_expires_at),
        "Then call get_offramp_order about every 5 seconds, or wait_for_offramp_order, until COMPLETED or FAILED.",
    ]
    return "\n".join(lines)


def payment_lines(bolt11: str | None, deposit: DepositOut | None, expires_at: datetime | None) -> list[str]:
    """How it is paid, in words."""
    until = "" if expires_at is None else f" before {moment(expires_at)}"
    if deposit is None:
        return [f"Pay this Lightning invoice{until}:", str(bolt11)]
    where = f"on {deposit.chain_name} (chain {deposit.chain_id})"
    token = f"{deposit.token_symbol} (contract {deposit.token_address})"
    return [f"Send exactly {deposit.amount} {token} {where} to {deposit.to_address}{until}.", deposit.qr_value]

"""The tool that creates an order.

It validates first, asks the user if the client can, sends one request, and then checks the service's answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Annotated

import structlog
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import Field

from bot.core.money import SETTLEMENT_FEE_IDR, Amount
from bot.mcp_server.formats import format_rupiah, format_sats, format_time, join_words, qr_code
from bot.mcp_server.service import NewestOrders, PriceCheck, Service
from bot.mcp_server.tools import arguments as args
from bot.mcp_server.tools.answers import Output, Refusal, answer
from bot.mcp_server.tools.confirmation import Confirmation
from bot.mcp_server.tools.failures import NO_ORDER_MADE, creation_failure, read_failure, unknown_outcome
from bot.mcp_server.tools.order_validation import (
    Number,
    check_holder,
    check_limits,
    check_number,
    explain_closed,
    find_method,
    require_one_amount,
    unlisted_error,
)
from bot.mcp_server.tools.payable import (
    NOT_ALL_LISTED,
    USE_LIGHTNING,
    DepositOut,
    Payment,
    check_new_payment,
    explain_duplicate,
)
from bot.mcp_server.tools.rates import FEE_INCLUDED, rails_out
from bot.mcp_server.unresolved_orders import Request, TooManyUnresolved, UnresolvedOrder, request_of
from bot.orders.deposits import find_earlier_deposits, is_list_conclusive
from bot.orders.placement.invoice_check import Unpayable
from bot.payments.tokens import LIGHTNING, SYMBOLS, TOKENS
from bot.rates.model import Estimate, estimate, price_drift_percent
from bot.settlement.adapter import to_placed
from bot.settlement.client import CreatedOrder, OrderInput, SettlementError
from bot.settlement.model import PayoutMethod, Quote

_ENGLISH = (
    "Check each line before you say yes:\nBank or e-wallet: {bank}\nNumber: {number}\nAccount holder: {holder}\n"
    "Recipient gets: {rupiah}\nYou pay: {sats} ({channel}). The fee of {fee} is part of the price that is locked.\n"
    "{remark}Saying yes creates an order. You pay it afterwards, and a paid order can't be reversed."
)
_INDONESIAN = (
    "Periksa tiap baris sebelum setuju:\nBank atau e-wallet: {bank}\nNomor: {number}\nPemilik rekening: {holder}\n"
    "Penerima mendapat: {rupiah}\nKamu membayar: {sats} ({channel}). Biaya {fee} termasuk dalam harga yang dikunci.\n"
    "{remark}Kalau setuju, transaksi dibuat. Kamu bayar sesudahnya, dan yang sudah dibayar tidak bisa dibatalkan."
)
_QUESTIONS = (_ENGLISH, "about ", "not given", ","), (_INDONESIAN, "sekitar ", "tidak disebutkan", ".")
"""The question in each language, with its "about" and "not given", and its mark of thousands."""

log = structlog.get_logger(__name__)


class CreatedOut(Output):
    """A new order, and how to pay it."""

    order_id: str = Field(description="For get_offramp_order and wait_for_offramp_order.")
    bolt11: str | None = Field(None, description=f"The Lightning invoice to pay; null for {join_words(TOKENS)}.")
    sat_amount: int = Field(description="Exact amount to pay, in sats. The fee is already in it.")
    idr_amount: int = Field(description="What the recipient receives, in rupiah.")
    btc_idr: float | None = Field(None, description="The locked rate: rupiah for one bitcoin.")
    fetched_at: datetime | None = Field(None, description="When that rate was fetched.")
    invoice_expires_at: datetime | None = Field(None, description="Pay before this time; null if it doesn't expire.")
    deposit: DepositOut | None = Field(
        None, description=f"How to pay with {join_words(SYMBOLS, 'or')}; null for {LIGHTNING}."
    )
    payment_uri: str = Field(description="The same payment as a link that opens a wallet.")
    warnings: list[str] = Field(description="What to tell your user before paying; usually empty.")


@dataclass(frozen=True, slots=True)
class ValidOrder:
    """An order that can be sent, and what it is expected to cost."""

    order_input: OrderInput
    method: PayoutMethod
    requested: Amount
    expected: Estimate
    number: Number

    @property
    def request(self) -> Request:
        """Return what makes it the same order as another."""
        return request_of(self.order_input, self.method.kind)

    @property
    def summary(self) -> str:
        """Return amount and destination, without the recipient."""
        requested = self.requested
        amount = format_rupiah(requested.value) if requested.currency == "IDR" else format_sats(requested.value)
        return f"{amount} to {self.method.name}"


class OrderCreation:
    """The tool that creates orders."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._confirmation = Confirmation(service.seconds, service.rules.answer_within_seconds)

    async def create_offramp_order(  # noqa: PLR0917  the document's own inputs
        self,
        ctx: Context,
        partnerBankCode: args.BankCode,
        partnerBankName: args.BankName,
        recipientDetails: args.RecipientDetails,
        satAmount: args.SatAmount = None,
        idrAmount: args.IdrAmount = None,
        bankAccountName: args.AccountName = None,
        depositChannel: args.DepositChannel = LIGHTNING,
        payoutMethod: args.PayoutKind = None,
        includeQr: args.IncludeQr = False,  # noqa: FBT002  arguments travel by name
    ) -> Annotated[CallToolResult, CreatedOut] | InputRequiredResult:
        """Create an order that sends rupiah to one bank account or e-wallet after it is paid.

        Call list_payout_methods first. Confirm destination, number and amount with your user: a paid order can't be
        reversed. If your client can show a form, your user is asked there as well, and without their yes no order is
        created. Returns a BOLT11 invoice (lightning) or deposit instructions ({token_codes}). The settlement fee is
        already in satAmount: the recipient gets idrAmount, and nothing is added. Nothing is sent until it is paid.
        Every call creates a new order. After an error or a lost answer, unless the error says "No order was created",
        call list_offramp_orders before creating another. The same order within ten minutes is only created after
        list_offramp_orders has listed the first.
        """
        channel = depositChannel or LIGHTNING

        async def validate() -> ValidOrder:
            requested = require_one_amount(satAmount, idrAmount)
            method = await self._method(partnerBankCode, partnerBankName)
            number = check_number(method, recipientDetails)
            holder = check_holder(bankAccountName)
            expected = await self._expected(requested)
            check_limits(method, expected.idr, requested, self._service.rules)
            if channel != LIGHTNING:
                await self._check_channel(channel)
            order_input = OrderInput(
                sat_amount=satAmount,
                idr_amount=idrAmount,
                deposit_channel=channel,
                partner_bank_code=method.code,
                partner_bank_name=method.name,
                recipient_details=number.sent,
                bank_account_name=holder,
                payout_method=payoutMethod,
            )
            return ValidOrder(order_input, method, requested, expected, number)

        with _before_creating():
            order = await validate()
        with _explaining_repeats(order):
            # Nobody is asked about an order that can't be created.
            self._service.unresolved.check(order.request)
        with _before_creating():
            agreed = await self._confirmation.ask(
                ctx, order.request, partial(_question, order, recipientDetails), order.expected
            )
            if isinstance(agreed, InputRequiredResult):
                return agreed
            if agreed is not None:
                # An answer can take minutes, so everything is checked again.
                order = await validate()
                self._check_agreed(agreed, order.expected)
        expected = agreed or order.expected
        created = await self._create(order)
        log.info("order_created", order_id=created.order_id, channel=channel)
        payment = self._payment(created, order.requested, channel, order.method)
        await self._check_unmistakable(created, payment)
        warnings = [*filter(None, order.number.remarks[:1]), *self._check_price(created, expected)]
        self._service.mark_verified(created.order_id)
        made = _created_out(created, payment, warnings)
        pictures = [await qr_code(payment.qr_payload)] if includeQr else []
        return answer(made, _text(made, order.method), *pictures)

    async def _method(self, code: str, name: str) -> PayoutMethod:
        """Return the destination. The list is read before each creation of an order (settlement API, 4.2)."""
        try:
            listed = await self._service.methods(fresh=True)
        except SettlementError as error:
            raise read_failure(error) from None
        found = find_method(listed, code, name)
        if found is None:
            raise unlisted_error(listed, code, name)
        closed = explain_closed(found, self._service.rules)
        if closed:
            raise Refusal(f"{closed} Choose another destination, or try later.")
        return found

    async def _expected(self, requested: Amount) -> Estimate:
        """Return the amount in the other currency.

        Without a rate no order is created, because its price can't be checked.
        """
        try:
            quote = await self._service.price()
        except SettlementError as error:
            raise read_failure(error) from None
        return estimate(requested, Quote(quote.btc_idr, quote.fetched_at))

    async def _check_channel(self, channel: str) -> None:
        """Check that a deposit is possible, and that it can be compared with all others before it is shown."""
        try:
            usable = rails_out(await self._service.rails()).channels
            if channel not in usable:
                raise Refusal(f"depositChannel {channel} isn't available right now. Send one of: {', '.join(usable)}.")
            newest = await self._service.newest()
        except SettlementError as error:
            raise read_failure(error) from None
        if not newest.has_all_open_deposits(self._service.clock.now()):
            raise Refusal(
                f"depositChannel {channel} can't be used right now, because {NOT_ALL_LISTED}. {USE_LIGHTNING}"
            )

    def _check_agreed(self, agreed: Estimate, current: Estimate) -> None:
        """Check that the price hasn't moved while the user was asked."""
        drift = _drift(agreed, sats=current.sats, idr=current.idr)
        if self._service.rules.check_price(drift) != PriceCheck():
            raise Refusal(
                f"The price moved by {abs(drift):.1f}% while your user was asked. Call again: they are then asked "
                "about the new price."
            )

    async def _create(self, order: ValidOrder) -> CreatedOrder:
        try:
            with (
                _explaining_repeats(order),
                self._service.unresolved.prevent_repeat(order.request) as sending,
            ):
                created = await self._service.create(order.order_input)
                sending.order_id = created.order_id
                return created
        except SettlementError as error:
            raise creation_failure(error, order.summary) from None

    def _payment(self, created: CreatedOrder, requested: Amount, channel: str, method: PayoutMethod) -> Payment:
        rules, now = self._service.rules, self._service.clock.now()
        allowed = rules.amounts_up_to(method.cap)
        try:
            return check_new_payment(created, rules, requested=requested, channel=channel, allowed=allowed, now=now)
        except Unpayable as reason:
            raise self._withhold(created, str(reason)) from None

    async def _check_unmistakable(self, created: CreatedOrder, payment: Payment) -> None:
        """Reject a deposit that can be confused with that of another order."""
        if payment.payment_hash is not None:
            owner = self._service.claim_invoice(payment.payment_hash, created.order_id)
            if owner != created.order_id:
                raise self._withhold(created, f"its invoice is that of order {owner}")
        deposit = to_placed(created).deposit
        if payment.deposit is None or deposit is None:
            return
        newest, now = await self._newest(), self._service.clock.now()
        if not is_list_conclusive(newest.reports, created.order_id, is_new=True):
            raise Refusal(
                f"Order {created.order_id} was created, but the list of orders can't be read right now, so it isn't "
                "known whether another deposit of the same amount is open. Don't create another order. Call "
                f"get_offramp_order for {created.order_id} in 5 seconds or later for how to pay it."
            )
        if not newest.has_all_open_deposits(now):
            raise Refusal(
                f"Order {created.order_id} was created, but how to pay it isn't shown, because {NOT_ALL_LISTED}. "
                f"{USE_LIGHTNING}"
            )
        before = find_earlier_deposits(newest.reports, created.order_id, deposit, created.sat_amount, now)
        if before:
            why = explain_duplicate(before[0])
            self._service.withhold(created.order_id, why)
            log.warning("order_withheld", order_id=created.order_id, reason="deposit like another")
            raise Refusal(f"Order {created.order_id} was created, but how to pay it isn't shown: {why}.")

    async def _newest(self) -> NewestOrders:
        """Return the newest orders, or none if they can't be read."""
        try:
            return await self._service.newest()
        except SettlementError:
            return NewestOrders()

    def _withhold(self, created: CreatedOrder, reason: str) -> Refusal:
        self._service.withhold(created.order_id, reason)
        log.warning("order_withheld", order_id=created.order_id, reason=reason)
        return Refusal(
            f"Order {created.order_id} was created, but its payment request isn't what was agreed, so it isn't shown "
            f"({reason}). Don't pay this order, wherever its invoice appears, and tell your user."
        )

    def _check_price(self, created: CreatedOrder, expected: Estimate) -> tuple[str, ...]:
        """Return the warnings about the locked price. Withhold the payment if the price is too far from the quote."""
        drift = _drift(expected, sats=created.sat_amount, idr=created.idr_amount)
        checked = self._service.rules.check_price(drift)
        if checked.why_not is not None:
            raise self._withhold(created, checked.why_not)
        return checked.warnings


@contextmanager
def _before_creating() -> Iterator[None]:
    """Add to every rejection within the block that no order was created: nothing has been sent to the service yet."""
    try:
        yield
    except Refusal as refusal:
        raise Refusal(f"{refusal} {NO_ORDER_MADE}") from None


@contextmanager
def _explaining_repeats(order: ValidOrder) -> Iterator[None]:
    """Explain why an order isn't sent that may exist already."""
    try:
        yield
    except UnresolvedOrder as known:
        if known.order_id is not None:
            raise Refusal(
                f"The same order was created a short time ago, and no other one now. Its orderId is "
                f"{known.order_id}. Call get_offramp_order to see how to pay it. If your user wants to send the "
                "same amount to the same recipient again, call list_offramp_orders first, then this tool. If that "
                "list doesn't have the order, call this tool ten minutes after the order was created."
            ) from None
        why = (
            "The same order is being created right now." if known.is_running else "The same order was requested before."
        )
        raise Refusal(f"{why} {unknown_outcome(order.summary)}") from None
    except TooManyUnresolved:
        raise Refusal(
            f"Too many orders have an unknown outcome, so no more are created. {NO_ORDER_MADE} Call "
            "list_offramp_orders with limit 100. If that doesn't help, the operator of this server must check "
            "these orders and restart it."
        ) from None


def _question(order: ValidOrder, details: str, expected: Estimate) -> str:
    """Return what the user is asked, in both languages. They see the recipient as the agent typed it."""
    asked, is_idr = list[str](), order.requested.currency == "IDR"
    channel = order.order_input.deposit_channel
    for (text, about, none, mark), remark in zip(_QUESTIONS, order.number.remarks, strict=True):
        amounts = format_rupiah(expected.idr), format_sats(expected.sats), format_rupiah(SETTLEMENT_FEE_IDR)
        rupiah, sats, fee_text = (amount.replace(",", mark) for amount in amounts)
        asked.append(
            text.format(
                bank=order.method.name,
                number=" ".join(details.split()),
                holder=order.order_input.bank_account_name or none,
                rupiah=rupiah if is_idr else about + rupiah,
                sats=about + sats if is_idr else sats,
                channel="Lightning" if channel == LIGHTNING else TOKENS[channel].symbol,
                fee=fee_text,
                remark=f"{remark}\n" if remark else "",
            )
        )
    return "\n\n".join(asked)


def _drift(expected: Estimate, *, sats: int, idr: int) -> Decimal:
    """Return how much worse for the payer a price is than the expected one, in percent."""
    return price_drift_percent(expected_sats=expected.sats, expected_idr=expected.idr, sats=sats, idr=idr)


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
    receives, costs = format_rupiah(made.idr_amount), format_sats(made.sat_amount)
    lines = [
        f"Order {made.order_id}: {receives} to {method.name} for {costs}. {FEE_INCLUDED}",
        *made.warnings,
        *payment_lines(made.bolt11, made.deposit, made.invoice_expires_at),
        "Then call get_offramp_order about every 5 seconds, or wait_for_offramp_order, until COMPLETED or FAILED.",
    ]
    return "\n".join(lines)


def payment_lines(bolt11: str | None, deposit: DepositOut | None, expires_at: datetime | None) -> list[str]:
    """Return the lines that say how to pay."""
    until = "" if expires_at is None else f" before {format_time(expires_at)}"
    if deposit is None:
        return [f"Pay this Lightning invoice{until}:", str(bolt11)]
    where = f"on {deposit.chain_name} (chain {deposit.chain_id})"
    token = f"{deposit.token_symbol} (contract {deposit.token_address})"
    return [
        f"Send exactly {deposit.amount} {token} {where} to {deposit.to_address}{until}.",
        "Another token, network or amount may not count for this order. After such a mistake don't send again.",
        deposit.qr_value,
    ]

"""The tool that creates an order.

It validates first, asks the user if the client can, sends one request, and then checks the service's answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated

import structlog
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import Field

from bot.core.locales import FALLBACK, read_tables
from bot.core.money import SETTLEMENT_FEE_IDR, Amount
from bot.mcp_server import arguments as args
from bot.mcp_server.answers import (
    NO_ORDER_MADE,
    Output,
    Refusal,
    answer,
    creation_failure,
    describe_order,
    format_price,
    format_rupiah,
    join_words,
    qr_code,
    read_failure,
    unknown_outcome,
)
from bot.mcp_server.confirmation import Confirmation
from bot.mcp_server.payments import (
    NOT_ALL_LISTED,
    USE_LIGHTNING,
    DepositOut,
    Payment,
    check_alone,
    check_new_payment,
    drift_percent,
    payment_lines,
)
from bot.mcp_server.rates import FEE_INCLUDED, rails_out
from bot.mcp_server.service import Service
from bot.mcp_server.unresolved_orders import Request, TooManyUnresolved, UnresolvedOrder, request_of
from bot.orders.deposits import has_all_open_deposits
from bot.orders.placement.invoice_check import Unpayable
from bot.payments.tokens import LIGHTNING, SYMBOLS, TOKENS
from bot.rates.model import Estimate, estimate
from bot.settlement.errors import SettlementFailure
from bot.settlement.model import CreatedOrder, NewestOrders, OrderRequest, PayoutMethod, find_by_pair

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

    wanted: OrderRequest
    expected: Estimate
    number: args.Number

    @property
    def request(self) -> Request:
        """Return what makes it the same order as another."""
        return request_of(self.wanted)


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
            requested = args.require_one_amount(satAmount, idrAmount)
            method = await self._method(partnerBankCode, partnerBankName)
            number = args.check_number(method, recipientDetails)
            holder = args.check_holder(bankAccountName)
            expected = await self._expected(requested)
            args.check_limits(method, expected.idr, requested, self._service.rules)
            if channel != LIGHTNING:
                await self._check_channel(channel)
            wanted = OrderRequest(
                method=method,
                number=number.sent,
                holder=holder,
                amount=requested,
                channel=channel,
                payout_method=payoutMethod,
            )
            return ValidOrder(wanted, expected, number)

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
        created = await self._create(order)
        log.info("order_created", order_id=created.service_id, channel=channel)
        payment, price_warnings = self._check_payment(created, order, agreed or order.expected)
        await self._check_unmistakable(created)
        warnings = [*filter(None, [order.number.remarks.get(FALLBACK)]), *price_warnings]
        self._service.mark_verified(created.service_id)
        made = _created_out(created, payment, warnings)
        pictures = [await qr_code(payment.qr_payload)] if includeQr else []
        return answer(made, _text(made, order.wanted), *pictures)

    async def _method(self, code: str, name: str) -> PayoutMethod:
        """Return the destination. The list is read before each creation of an order (settlement API, 4.2)."""
        listed = await self._service.methods(fresh=True)
        found = find_by_pair(listed, (code, name))
        if found is None:
            raise args.unlisted_error(listed, code, name)
        closed = args.explain_closed(found, self._service.rules)
        if closed:
            raise Refusal(f"{closed} Choose another destination, or try later.")
        return found

    async def _expected(self, requested: Amount) -> Estimate:
        """Return the amount in the other currency.

        Without a rate no order is created, because its price can't be checked.
        """
        return estimate(requested, await self._service.price())

    async def _check_channel(self, channel: str) -> None:
        """Check that a deposit is possible, and that it can be compared with all others before it is shown."""
        usable = rails_out(await self._service.rails()).channels
        if channel not in usable:
            raise Refusal(f"depositChannel {channel} isn't available right now. Send one of: {', '.join(usable)}.")
        newest = await self._service.newest()
        if not has_all_open_deposits(newest, self._service.clock.now()):
            raise Refusal(
                f"depositChannel {channel} can't be used right now, because {NOT_ALL_LISTED}. {USE_LIGHTNING}."
            )

    def _check_agreed(self, agreed: Estimate, current: Estimate) -> None:
        """Check that the price hasn't moved while the user was asked."""
        drift = drift_percent(agreed, sats=current.sats, idr=current.idr)
        try:
            has_moved = bool(self._service.rules.check_price(drift))
        except Unpayable:
            has_moved = True
        if has_moved:
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
                created = await self._service.create(order.wanted)
                sending.order_id = created.service_id
                return created
        except SettlementFailure as error:
            raise Refusal(creation_failure(error, describe_order(order.request))) from None

    def _check_payment(
        self, created: CreatedOrder, order: ValidOrder, expected: Estimate
    ) -> tuple[Payment, tuple[str, ...]]:
        """Return the payment, and warnings about its price. Withhold it forever if it isn't what was agreed."""
        rules, now, channel = self._service.rules, self._service.clock.now(), order.wanted.channel
        allowed = rules.amounts_up_to(order.wanted.method.cap)
        try:
            payment = check_new_payment(
                created, rules, requested=order.wanted.amount, channel=channel, allowed=allowed, now=now
            )
            if payment.payment_hash is not None:
                owner = self._service.claim_invoice(payment.payment_hash, created.service_id)
                if owner != created.service_id:
                    raise Unpayable(f"its invoice is that of order {owner}")  # noqa: TRY301  one way to withhold
            drift = drift_percent(expected, sats=created.sats, idr=created.idr)
            return payment, rules.check_price(drift)
        except Unpayable as reason:
            self._service.withhold(created.service_id, str(reason))
            log.warning("order_withheld", order_id=created.service_id, reason=str(reason))
            raise Refusal(
                f"Order {created.service_id} was created, but its payment request isn't what was agreed, so it isn't "
                f"shown ({reason}). Don't pay this order, wherever its invoice appears, and tell your user."
            ) from None

    async def _check_unmistakable(self, created: CreatedOrder) -> None:
        """Reject a deposit that can be confused with that of another order. It is shown once that order is done."""
        deposit = created.deposit
        if deposit is None:
            return
        newest = NewestOrders()
        with suppress(SettlementFailure):
            newest = await self._service.newest()
        now, sats = self._service.clock.now(), created.sats
        try:
            check_alone(newest, created.service_id, deposit, sats=sats, is_new=True, now=now)
        except Unpayable as reason:
            why = f"Order {created.service_id} was created, but how to pay it isn't shown: {reason}."
            raise Refusal(why) from None


@contextmanager
def _before_creating() -> Iterator[None]:
    """Add to every rejection within the block that no order was created: nothing has been sent to the service yet."""
    try:
        yield
    except SettlementFailure as error:
        raise Refusal(f"{read_failure(error)} {NO_ORDER_MADE}") from None
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
        raise Refusal(f"{why} {unknown_outcome(describe_order(order.request))}") from None
    except TooManyUnresolved:
        raise Refusal(
            f"Too many orders have an unknown outcome, so no more are created. {NO_ORDER_MADE} Call "
            "list_offramp_orders with limit 100. If that doesn't help, the operator of this server must check "
            "these orders and restart it."
        ) from None


def _question(order: ValidOrder, details: str, expected: Estimate) -> str:
    """Return what the user is asked, in each language. They see the recipient as the agent typed it."""
    asked, is_idr = list[str](), order.wanted.amount.currency == "IDR"
    channel = order.wanted.channel
    for locale, texts in read_tables("agents").items():
        amounts = format_rupiah(expected.idr), format_price(expected.sats, channel), format_rupiah(SETTLEMENT_FEE_IDR)
        rupiah, price, fee_text = (amount.replace(",", texts["thousands"]) for amount in amounts)
        remark = order.number.remarks.get(locale)
        asked.append(
            texts["question"].format(
                bank=order.wanted.method.name,
                number=" ".join(details.split()),
                holder=order.wanted.holder or texts["no_holder"],
                rupiah=rupiah if is_idr else texts["about"].format(amount=rupiah),
                price=texts["about"].format(amount=price) if is_idr else price,
                channel="Lightning" if channel == LIGHTNING else TOKENS[channel].chain.name,
                fee=fee_text,
                remark=f"{remark}\n" if remark else "",
            )
        )
    return "\n\n".join(asked)


def _created_out(created: CreatedOrder, payment: Payment, warnings: list[str]) -> CreatedOut:
    return CreatedOut(
        order_id=created.service_id,
        bolt11=payment.bolt11,
        sat_amount=created.sats,
        idr_amount=created.idr,
        btc_idr=None if created.btc_idr is None else float(created.btc_idr),
        fetched_at=created.fetched_at,
        invoice_expires_at=payment.expires_at,
        deposit=payment.deposit,
        payment_uri=payment.uri,
        warnings=warnings,
    )


def _text(made: CreatedOut, wanted: OrderRequest) -> str:
    receives, costs = format_rupiah(made.idr_amount), format_price(made.sat_amount, wanted.channel)
    lines = [
        f"Order {made.order_id}: {receives} to {wanted.method.name} for {costs}. {FEE_INCLUDED}",
        *made.warnings,
        *payment_lines(made.bolt11, made.deposit, made.invoice_expires_at),
        "Then call get_offramp_order about every 5 seconds, or wait_for_offramp_order, until COMPLETED or FAILED.",
    ]
    return "\n".join(lines)

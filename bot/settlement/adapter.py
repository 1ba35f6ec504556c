"""The adapter between the client and the bot: it translates the client's models and errors into those of `model`.

Reads for the poller are sent once (`retry=False`), because the poller has its own request budget and schedule.
"""

from dataclasses import fields
from datetime import timedelta

from bot.payments.tokens import TOKENS
from bot.settlement import model as ports
from bot.settlement.budget import OrderPace
from bot.settlement.client import errors, wire
from bot.settlement.client.client import SettlementClient
from bot.settlement.client.fields import cut
from bot.settlement.model import BANK, EWALLET, Deposit, OrderReport, PayoutMethod, Quote, ServiceRecord

ROWS = 100
RECORD = tuple(field.name for field in fields(ServiceRecord))


class SettlementAdapter:
    """Implements `bot.settlement.model.Settlement` with a `SettlementClient`."""

    def __init__(self, client: SettlementClient, pace: OrderPace | None = None) -> None:
        self._client = client
        self._pace = pace or OrderPace()

    async def quote(self) -> Quote:
        """Return the cached rate (settlement API, 4.1), with its time converted to our own clock."""
        try:
            quote = await self._client.quote()
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        offset = self._client.clock_offset or timedelta(0)
        # The rate's time and the header's time can come from different clocks. A rate is never from the future.
        fetched_at = min(quote.fetched_at, self._client.service_now()) - offset
        return Quote(quote.btc_idr, fetched_at, quote.usdc_idr, quote.source or "")

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        """Return the live list (4.2)."""
        try:
            listed = await self._client.payout_methods()
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return tuple(map(to_method, listed.methods))

    async def deposit_channels(self) -> frozenset[str]:
        """Return the EVM channels that the service offers (4.3). None while its backend isn't configured for them."""
        try:
            rails = await self._client.deposit_rails()
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return frozenset(code for code, rail in rails.tokens.items() if rails.configured and rail is not None)

    async def deposit_rails(self) -> ports.DepositRails:
        """Return the service's rails (4.3)."""
        try:
            rails = await self._client.deposit_rails()
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return to_deposit_rails(rails)

    async def platform_stats(self) -> ports.PlatformStats:
        """Return the service's statistics (4.4), with every key as received."""
        try:
            stats = await self._client.platform_stats()
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return ports.PlatformStats(stats.received, stats.fetched_at)

    async def place(self, request: ports.OrderRequest, may_send: ports.MaySend) -> ports.Placed:
        """Create an order (4.5) with one request, unless `may_send` forbids it directly before the first byte."""
        try:
            body = _body(request)
        except ValueError:
            # Nothing was sent.
            raise ports.Refused("the request can't be put as the service wants it") from None
        try:
            created = await self._client.create_order(body, may_send)
        except errors.SettlementError as error:
            raise _placing_failure(error) from error
        return to_placed(created)

    async def look_up(self, service_id: str) -> OrderReport:
        """Read one order (4.6) with one request, at least a second after the last read of it (6.3)."""
        await self._pace.take(service_id)
        try:
            order = await self._client.order(service_id, retry=False)
        except ValueError:
            # The id can't be part of a path, so no order has it.
            raise ports.OrderNotFound from None
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return to_report(order)

    async def newest(self, limit: int = ROWS) -> ports.NewestOrders:
        """Read the newest orders (4.7) with one request."""
        try:
            listed = await self._client.orders(limit, retry=False)
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return ports.NewestOrders(tuple(map(to_report, listed.orders)), listed.fetched_at)


def _body(request: ports.OrderRequest) -> wire.OrderInput:
    return wire.OrderInput(
        sat_amount=request.amount.value if request.amount.currency == "SAT" else None,
        idr_amount=request.amount.value if request.amount.currency == "IDR" else None,
        deposit_channel=request.channel,
        partner_bank_code=request.method.code,
        partner_bank_name=request.method.name,
        recipient_details=request.number,
        bank_account_name=request.holder,
    )


def to_method(row: wire.PayoutMethod) -> PayoutMethod:
    """Convert a row of the live list. Without a known kind and a certain cap, no order fits."""
    cap, kind, unread = row.max_amount_transfer, row.kind or "", ""
    if isinstance(cap, str):
        cap, unread = 0, f"maxAmountTransfer “{cap}”"
    elif kind not in {BANK, EWALLET}:
        # Nobody knows the form of its numbers.
        cap, unread = 0, f"kind “{cut(kind)}”"
    return PayoutMethod(row.bank_code, row.bank_name, kind, cap, unread)


def to_placed(created: wire.CreatedOrder) -> ports.Placed:
    """Convert the answer to an order's creation."""
    deposit = created.deposit
    return ports.Placed(
        service_id=created.order_id,
        sats=created.sat_amount,
        idr=created.idr_amount,
        btc_idr=created.btc_idr,
        bolt11=created.bolt11,
        deposit=None
        if deposit is None
        else Deposit(
            channel=deposit.channel,
            chain_id=deposit.chain_id,
            chain_name=deposit.chain_name or "",
            token_symbol=deposit.token_symbol or "",
            token_address=deposit.token_address,
            to_address=deposit.to_address,
            decimals=deposit.decimals,
        ),
        expires_at=created.invoice_expires_at,
        deposit_uri=None if deposit is None else deposit.qr_value,
    )


def to_report(order: wire.Order) -> OrderReport:
    """Convert the service's record of an order."""
    return OrderReport(
        service_id=order.id,
        state=order.state,
        sats=order.sat_amount,
        idr=order.idr_amount,
        btc_idr=order.btc_idr,
        bolt11=order.invoice_bolt11,
        channel=order.deposit_channel,
        bank_code=order.partner_payout_bank_code,
        bank_name=order.partner_payout_bank_name,
        recipient=order.payout_recipient,
        holder=order.bank_account_name,
        created_at=order.created_at,
        updated_at=order.updated_at,
        paid_at=order.invoice_paid_at,
        completed_at=order.completed_at,
        expires_at=order.invoice_expires_at,
        deposit=to_deposit(order),
        record=ServiceRecord(**{name: getattr(order, name) for name in RECORD}),
    )


def to_deposit(order: wire.Order) -> Deposit | None:
    """Return the deposit instructions of an order, or None for a Lightning order.

    The record names only chain, contract and address (2.7). The rest comes from our list of tokens.
    """
    token = TOKENS.get(order.deposit_channel or "")
    if token is None or not order.deposit_to_address or not order.deposit_token_address:
        return None
    return Deposit(
        channel=token.code,
        chain_id=order.deposit_chain_id or 0,
        chain_name=token.chain.name,
        token_symbol=token.symbol,
        token_address=order.deposit_token_address,
        to_address=order.deposit_to_address,
        decimals=token.decimals,
    )


def _placing_failure(error: errors.SettlementError) -> ports.SettlementFailure:
    if isinstance(error, errors.ValidationRejected):
        return ports.Refused(error.error or "")
    if isinstance(error, errors.KeyRefused):
        return ports.KeyRefused()
    if isinstance(error, errors.TooLate):
        return ports.NotCreated("it was too late to send the request")
    return ports.OutcomeUnknown() if error.outcome_unknown else ports.OutOfReach()


def _read_failure(error: errors.SettlementError) -> ports.SettlementFailure:
    match error:
        case errors.KeyRefused():
            return ports.KeyRefused()
        case errors.NotFound():
            return ports.OrderNotFound()
        case errors.RateLimited():
            return ports.SlowDown(error.retry_after)
        case _:
            return ports.ServiceDown()


def to_deposit_rails(rails: wire.DepositRails) -> ports.DepositRails:
    """Convert the deposit rails (2.3), under the service's names. Absent and unreadable rails are left out."""
    converted = (
        _text_rail("bitcoinOnchain", rails.bitcoin_onchain),
        _text_rail("lightning", rails.lightning),
        _swap_rail("arbitrumUsdt", rails.arbitrum_usdt),
        *(_token_rail(token.rail, rails.tokens[token.code]) for token in TOKENS.values()),
    )
    known = tuple(rail for rail in converted if rail is not None)
    return ports.DepositRails(is_configured=rails.configured, rails=known, error=rails.error or "")


def _text_rail(name: str, rail: wire.RailText | None) -> ports.Rail | None:
    return None if rail is None else ports.Rail(name=name, summary=rail.summary or "")


def _swap_rail(name: str, rail: wire.LightningSwapTarget | None) -> ports.Rail | None:
    if rail is None:
        return None
    return ports.Rail(
        name=name,
        summary=rail.role or "",
        token=rail.token or "",
        chain_id=rail.chain_id,
        address=rail.safe_address or "",
    )


def _token_rail(name: str, rail: wire.DepositRail | None) -> ports.Rail | None:
    if rail is None:
        return None
    return ports.Rail(
        name=name, token=rail.token, chain_id=rail.chain_id, contract=rail.contract_address, address=rail.safe_address
    )

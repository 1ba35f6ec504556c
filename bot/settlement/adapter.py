"""The service as the use cases see it: wire models become the domain's, foreign errors become the port's, once.

Polling reads are sent once (`retry=False`): the poller has its own budget and its own next time.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from bot.payments.tokens import TOKENS
from bot.settlement import model as ports
from bot.settlement.client import errors, wire
from bot.settlement.client.client import SettlementClient
from bot.settlement.client.pace import OrderPace
from bot.settlement.model import Deposit, OrderReport, PayoutMethod, Quote
from bot.settlement.rails import stated_rails

ROWS = 100


async def _always() -> bool:
    return True


class SettlementAdapter:
    """Implements `bot.settlement.model.Settlement` on a `SettlementClient`.

    `may_place` is asked right before each order's creation whether this process may create one.
    """

    def __init__(
        self,
        client: SettlementClient,
        pace: OrderPace | None = None,
        *,
        may_place: Callable[[], Awaitable[bool]] = _always,
    ) -> None:
        self._client = client
        self._pace = pace or OrderPace()
        self._may_place = may_place

    async def quote(self) -> Quote:
        """Return the cached rate (settlement API, 4.1), its time by our own clock, so that its age is right."""
        try:
            quote = await self._client.quote()
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        offset = self._client.clock_offset or timedelta(0)
        # What wrote the rate's time may have another clock than what wrote the header: no rate is of the future.
        fetched_at = min(quote.fetched_at, self._client.service_now()) - offset
        return Quote(quote.btc_idr, fetched_at, quote.usdc_idr, quote.source or "")

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        """Return the live list (4.2)."""
        try:
            listed = await self._client.payout_methods()
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return tuple(
            PayoutMethod(code=row.bank_code, name=row.bank_name, kind=row.kind, cap=row.max_amount_transfer)
            for row in listed.methods
        )

    async def deposit_channels(self) -> frozenset[str]:
        """Return the EVM channels on offer (4.3); none while the backend is not configured for them."""
        try:
            rails = await self._client.deposit_rails()
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return frozenset(code for code, rail in rails.tokens.items() if rails.configured and rail is not None)

    async def deposit_rails(self) -> ports.DepositRails:
        """All that the service tells of its rails (4.3)."""
        try:
            rails = await self._client.deposit_rails()
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return stated_rails(rails)

    async def platform_stats(self) -> ports.PlatformStats:
        """Return the service's own figures (4.4), every key as it came."""
        try:
            stats = await self._client.platform_stats()
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return ports.PlatformStats(stats.given, stats.fetched_at)

    async def place(self, request: ports.OrderRequest) -> ports.Placed:
        """Create an order (4.5), once."""
        try:
            body = _body(request)
        except ValueError:
            # Nothing was sent.
            raise ports.Refused("the request can't be put as the service wants it") from None
        if not await self._may_place():
            raise ports.NotMade("this process no longer acts as the bot")
        try:
            created = await self._client.create_order(body)
        except errors.SettlementError as error:
            raise _placing_failure(error) from error
        return placed_of(created)

    async def look_up(self, service_id: str) -> OrderReport:
        """One order (4.6), asked for once, and no sooner than a second after the last time (6.3)."""
        await self._pace.take(service_id)
        try:
            order = await self._client.order(service_id, retry=False)
        except ValueError:
            # An id that no path can carry: the service can't be asked about it.
            raise ports.OrderNotFound from None
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return report_of(order)

    async def newest(self, limit: int = ROWS) -> ports.Newest:
        """Return the newest orders (4.7), asked for once."""
        try:
            listed = await self._client.orders(limit, retry=False)
        except errors.SettlementError as error:
            raise _read_failure(error) from error
        return ports.Newest(tuple(map(report_of, listed.orders)), listed.fetched_at)


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


def placed_of(created: wire.CreatedOrder) -> ports.Placed:
    """Return what the service made of a request, in the port's words."""
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
    )


def report_of(order: wire.Order) -> OrderReport:
    """Return what the service's record says, in the port's words."""
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
        deposit=deposit_of(order),
    )


def deposit_of(order: wire.Order) -> Deposit | None:
    """Return a record names chain, contract and address only (2.7); the rest is what we know of that token."""
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

"""Tools that only read: the rate, the destinations, the deposit rails, the statistics."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from math import isfinite
from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import ConfigDict, Field, create_model

from bot.core.money import SETTLEMENT_FEE_IDR
from bot.mcp_server.answers import Output, answer, format_rupiah, format_time, replace_surrogates
from bot.mcp_server.arguments import explain_closed
from bot.mcp_server.service import AgentRules, Service
from bot.payments.erc681 import DepositCheckError, check_deposit
from bot.payments.tokens import LIGHTNING, TOKENS
from bot.settlement.model import DepositRails, PayoutMethod, PlatformStats, Rail

FEE_INCLUDED = (
    f"The settlement fee of {format_rupiah(SETTLEMENT_FEE_IDR)} per transfer is part of the price that"
    " create_offramp_order locks. Nothing is added to that price."
)
"""What is known of the fee: it is in the quote that the service locks (settlement API, 1.6 and 8)."""

MAX_STATISTICS = 20
MAX_CHARACTERS = 200
TIMES = frozenset({"fetchedAt", "fetched_at"})


class QuoteOut(Output):
    """The rate."""

    btc_idr: float = Field(description="Rupiah for one bitcoin.")
    usdc_idr: float | None = Field(None, description="Rupiah for one USDC; null if the service doesn't say.")
    fetched_at: datetime = Field(description="When the service fetched the rate.")
    source: str | None = Field(None, description="Where the rate comes from.")


class MethodOut(Output):
    """One destination."""

    bank_code: str = Field(description="Opaque. Pass it as partnerBankCode, unchanged.")
    bank_name: str = Field(description="Pass it as partnerBankName, unchanged.")
    kind: str = Field(description="bank: recipientDetails is an account number; ewallet: a mobile number.")
    max_amount_transfer: int | None = Field(None, description="Maximum rupiah per transfer; null if no limit is known.")
    error: str = Field("", description="Only if no order can go there now: why.", exclude_if=lambda text: not text)


class MethodsOut(Output):
    """All destinations just now."""

    methods: list[MethodOut] = Field(description="Destinations that rupiah can be sent to right now.")


class RailText(Output):
    """A rail in the service's own words."""

    label: str | None = None
    summary: str | None = None


class TokenRail(Output):
    """A token that can be deposited."""

    deposit_channel: str = Field(description="Pass it as depositChannel.")
    chain_id: int
    token: str
    contract_address: str
    decimals: int
    safe_address: str = Field(description="For information. Pay only what an order's own `deposit` says.")


class WaysToPay(Output):
    """How an order can be paid. `RailsOut` adds each token that we know, under the service's key for it."""

    configured: bool = Field(description="If false, only Lightning can be used.")
    channels: list[str] = Field(description="Currently available values of depositChannel.")
    lightning: RailText | None = None
    bitcoin_onchain: RailText | None = None


_TOKEN_RAILS: dict[str, Any] = {
    token.code: (TokenRail | None, Field(None, alias=token.rail)) for token in TOKENS.values()
}
RailsOut = create_model(
    "RailsOut",
    __base__=WaysToPay,
    __doc__="How an order can be paid.",
    **_TOKEN_RAILS,
    error=(str | None, Field(None, description="The service's own message.")),
)


class StatsOut(Output):
    """The service's figures, whatever it tells."""

    # No other result is open. Names and meanings of the statistics are the service's (settlement API, 2.4).
    model_config = ConfigDict(extra="allow")

    fetched_at: datetime | None = Field(None, description="When the service counted; null if it doesn't say.")


class RateTools:
    """The tools that read public data of the service."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def get_btc_idr_quote(self) -> Annotated[CallToolResult, QuoteOut]:
        """Get the live rate: rupiah for one bitcoin and for one USDC.

        Use it to show the price before creating an order. The final price is locked when the order is created. The
        settlement fee is part of it, and nothing is added.
        """
        quote = await self._service.quote()
        return answer(
            QuoteOut.model_validate(asdict(quote) | {"source": quote.source or None}),
            f"1 BTC = {format_rupiah(round(quote.btc_idr))} ({format_time(quote.fetched_at)}). {FEE_INCLUDED}",
        )

    async def list_payout_methods(self) -> Annotated[CallToolResult, MethodsOut]:
        """List the Indonesian banks and e-wallets that rupiah can be sent to, live. Call this first.

        Choose the entry of the user's destination and keep its bankCode and bankName: create_offramp_order needs both
        exactly as returned. kind says what recipientDetails must be (bank: account number, ewallet: mobile number).
        """
        methods = await self._service.methods()
        return answer(methods_out(methods, self._service.rules), methods_text(methods, self._service.rules))

    async def get_deposit_rails(self) -> Annotated[CallToolResult, RailsOut]:
        """List the available ways to pay: Lightning always; {tokens} if configured.

        Never pay to an address from this list. Pay only what create_offramp_order returns.
        """
        rails = rails_out(await self._service.rails())
        return answer(rails, f"Available ways to pay: {', '.join(rails.channels)}.")

    async def get_platform_stats(self) -> Annotated[CallToolResult, StatsOut]:
        """Get the settlement service's statistics, such as liquidity and volume, for display only."""
        stats = await self._service.stats()
        return answer(stats_out(stats), _stats_text(stats.values))


def methods_out(methods: tuple[PayoutMethod, ...], rules: AgentRules) -> MethodsOut:
    """Return the list for agents."""
    return MethodsOut(
        methods=[
            MethodOut(
                bank_code=method.code,
                bank_name=method.name,
                kind=method.kind,
                max_amount_transfer=method.cap,
                error=explain_closed(method, rules),
            )
            for method in methods
        ]
    )


def methods_text(methods: tuple[PayoutMethod, ...], rules: AgentRules) -> str:
    """Return each destination with everything that an order needs: some agents read only the text."""
    lines = [f"{method.name} · bankCode {method.code} · {method.kind}{_limit(method, rules)}" for method in methods]
    return "\n".join([f"{len(methods)} destinations:", *lines])


def _limit(method: PayoutMethod, rules: AgentRules) -> str:
    limit = None if method.cap is None else f"up to {format_rupiah(method.cap)}"
    return "".join(f" · {each}" for each in (explain_closed(method, rules) or limit,) if each)


def rails_out(rails: DepositRails) -> WaysToPay:
    """Return the rails that can be used and match what we know. The service's own swap addresses are left out."""
    found = {token.code: rails.find(token.rail) for token in TOKENS.values()}
    tokens = {code: usable for code, rail in found.items() if (usable := _token_rail(code, rail))}
    channels = [LIGHTNING, *(tokens if rails.is_configured else ())]
    texts = {"lightning": rails.find("lightning"), "bitcoin_onchain": rails.find("bitcoinOnchain")}
    rail_texts = {
        name: RailText(label=text.label or None, summary=text.summary or None) for name, text in texts.items() if text
    }
    return RailsOut.model_validate(
        {"configured": rails.is_configured, "channels": channels, "error": rails.error or None, **rail_texts, **tokens}
    )


def _token_rail(channel: str, rail: Rail | None) -> TokenRail | None:
    if rail is None or rail.channel != channel or rail.chain_id is None or rail.decimals is None:
        return None
    try:
        check_deposit(channel, rail.chain_id, rail.contract, rail.decimals, rail.address)
    except DepositCheckError:
        return None
    return TokenRail(
        deposit_channel=channel,
        chain_id=rail.chain_id,
        token=rail.token,
        contract_address=rail.contract,
        decimals=rail.decimals,
        safe_address=rail.address,
    )


def stats_out(stats: PlatformStats) -> StatsOut:
    """Return the statistics for agents."""
    others = {str(key): _to_json(value) for key, value in stats.values.items() if key not in TIMES}
    return StatsOut(fetched_at=stats.fetched_at, **replace_surrogates(others))


def _to_json(value: Any) -> Any:  # noqa: ANN401  JSON is anything
    """Return JSON's own types: exact decimals become JSON numbers."""
    if isinstance(value, Decimal):
        return float(value) if isfinite(float(value)) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _to_json(item) for key, item in value.items()}
    return [_to_json(item) for item in value] if isinstance(value, list) else value


def _stats_text(statistics: Mapping[str, object]) -> str:
    lines = [
        f"{str(key)[:MAX_CHARACTERS]}: {str(value)[:MAX_CHARACTERS]}"
        for key, value in list(statistics.items())[:MAX_STATISTICS]
    ]
    return "\n".join(["The settlement service's statistics:", *lines])

"""The resources of the /v1 API (settlement API, 2), parsed tolerantly where that is safe.

Unknown keys are ignored (settlement API, 9.2). States, kinds and channels are plain strings: the service can add some,
and an unknown one isn't an error. Absent and null are both None. No `repr` has fields with personal data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SkipValidation, StrictInt, model_validator
from pydantic.alias_generators import to_camel

from bot.payments.tokens import LIGHTNING, TOKENS
from bot.settlement.client.fields import (
    Amount,
    Cap,
    Instant,
    Lenient,
    MaybeAmount,
    MaybeDetail,
    MaybeInstant,
    MaybeInvoice,
    MaybeRate,
    MaybeText,
    MaybeWord,
    Rate,
    State,
    Text,
    Word,
)
from bot.settlement.steps import TERMINAL_STATES


def is_terminal(state: str) -> bool:
    """Return whether an order in this state can't change again (settlement API, 3).

    Case and surrounding spaces are ignored. An unknown state isn't terminal.
    """
    return state.strip().upper() in TERMINAL_STATES


class Wire(BaseModel):
    """The base of all resources: camelCase in JSON, immutable, and no input in error texts."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        defer_build=True,  # each validator is built with its first answer, in 2 ms, and not all of them at the start
    )


class Quote(Wire):
    """BtcIdrQuote (2.1): rupiah for one BTC and one USDC, and when the service fetched them."""

    btc_idr: Rate
    usdc_idr: MaybeRate = None
    fetched_at: Instant
    source: MaybeText = None


class PayoutMethod(Wire):
    """One row of the live list (2.2). Code and name go back to the service exactly as received.

    A cap that can't be read is a text, and a kind that can't be read is None. The destination stays in the list.
    """

    bank_code: Text
    bank_name: Text
    max_amount_transfer: Cap = None
    kind: MaybeWord = None


class PayoutMethods(Wire):
    """The readable rows, in the service's order, and the number of unreadable ones."""

    methods: tuple[PayoutMethod, ...]
    skipped: int = 0


class DepositRail(Wire):
    """A token for deposits on an EVM chain (2.3). `decimals` is the token's own."""

    chain_id: Amount
    safe_address: Text
    token: Text
    contract_address: Text
    decimals: Amount
    deposit_channel: Word


class LightningSwapTarget(Wire):
    """Where the service itself receives USDT (2.3). Never a deposit address for a payer."""

    chain_id: MaybeAmount = None
    safe_address: MaybeText = None
    token: MaybeText = None
    role: MaybeText = None


class RailText(Wire):
    """The service's description of a rail."""

    label: MaybeText = None
    summary: MaybeText = None


MaybeRail = Annotated[DepositRail | None, Lenient]
MaybeRailText = Annotated[RailText | None, Lenient]


class DepositRails(Wire):
    """DepositRails (2.3). If `configured` is false, only Lightning works. An unreadable rail isn't offered.

    `tokens` has every known token by its code: None if the service doesn't offer it.
    """

    configured: bool
    bitcoin_onchain: MaybeRailText = None
    lightning: MaybeRailText = None
    arbitrum_usdt: Annotated[LightningSwapTarget | None, Lenient] = None
    tokens: Mapping[str, MaybeRail]
    error: MaybeText = None

    @model_validator(mode="before")
    @classmethod
    def _tokens_by_code(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return {**value, "tokens": {token.code: value.get(token.rail) for token in TOKENS.values()}}


class PlatformStats(Wire):
    """PlatformStats (2.4). Any key can be missing. Keys without a field here are in `others`.

    `received` is the whole answer, in the service's order, so that unreadable values can be shown, too.
    """

    model_config = ConfigDict(extra="allow")

    received: SkipValidation[Mapping[str, object]]
    fetched_at: MaybeInstant = None
    updated_at: MaybeInstant = None
    total_orders: MaybeAmount = None
    total_volume_idr: MaybeAmount = None
    total_volume_sats: MaybeAmount = None
    tagline: MaybeText = None

    @model_validator(mode="before")
    @classmethod
    def _keep_received(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        # JSON can spell half a surrogate pair, which can't be a key of a model.
        return {key: value[key] for key in value if _is_unicode(key)} | {"received": value}

    @property
    def others(self) -> dict[str, object]:
        """Return keys and values as received."""
        return dict(self.model_extra or {})


def _is_unicode(text: str) -> bool:
    return text.encode(errors="ignore").decode() == text


class OrderInput(Wire):
    """OfframpCreateInput (2.5), the body of a request to create an order.

    Exactly one of `sat_amount` (sats) and `idr_amount` (rupiah that the recipient receives), a whole number above zero.
    `payout_method` is reserved by the service, with one value for banks and e-wallets.
    """

    sat_amount: Annotated[StrictInt, Field(gt=0)] | None = None
    idr_amount: Annotated[StrictInt, Field(gt=0)] | None = None
    deposit_channel: str = LIGHTNING
    partner_bank_code: Text
    partner_bank_name: Text
    recipient_details: Annotated[Text, Field(repr=False)]
    bank_account_name: Annotated[Text | None, Field(repr=False)] = None
    payout_method: Literal["bank_transfer"] | None = None

    @model_validator(mode="after")
    def _exactly_one_amount(self) -> Self:
        if (self.sat_amount is None) == (self.idr_amount is None):
            raise ValueError("exactly one of sat_amount and idr_amount")
        return self

    def body(self) -> dict[str, str | int]:
        """Return the JSON object to post: the fields that are set, under the document's names."""
        return self.model_dump(by_alias=True, exclude_none=True)


def _to_text(value: object) -> str | None:
    return None if value is None else str(value)


class DepositInstructions(Wire):
    """Where and what to pay on an EVM chain (2.6). Never show `qr_value`: it can lack token and amount.

    Whatever it is, it is kept as text, because it is compared with the other parts.
    """

    channel: Word
    chain_id: Amount
    chain_name: MaybeText = None
    token_symbol: MaybeText = None
    token_address: Text
    to_address: Text
    decimals: Amount
    qr_value: Annotated[str | None, BeforeValidator(_to_text)] = None


class CreatedOrder(Wire):
    """OfframpCreateResponse (2.6): the locked amounts, and a Lightning invoice or deposit instructions."""

    order_id: Text
    bolt11: Text | None = None
    sat_amount: Amount
    idr_amount: Amount
    btc_idr: MaybeRate = None
    fetched_at: MaybeInstant = None
    invoice_expires_at: MaybeInstant = None
    deposit: DepositInstructions | None = None


class Order(Wire):
    """OfframpOrder (2.7). Branch on `state` only. The other fields are details, not the status."""

    id: Text
    tenant_id: MaybeDetail = None
    state: State
    sat_amount: Amount
    idr_amount: Amount
    partner_amount_idr: MaybeAmount = None
    btc_idr: MaybeRate = None
    btc_idr_fetched_at: MaybeInstant = None
    invoice_bolt11: MaybeText = None
    invoice_ln_id: MaybeDetail = None
    invoice_expires_at: MaybeInstant = None
    invoice_paid_at: MaybeInstant = None
    ln_swap_id: MaybeDetail = None
    ln_swap_invoice: MaybeInvoice = None
    ln_swap_tx_hash: MaybeDetail = None
    swap_tx_hash: MaybeDetail = None
    partner_burn_tx_hash: MaybeDetail = None
    partner_redeem_id: MaybeDetail = None
    partner_payout_bank_code: MaybeText = None
    partner_payout_bank_name: MaybeText = None
    payout_recipient: Annotated[MaybeText, Field(repr=False)] = None
    bank_account_name: Annotated[MaybeText, Field(repr=False)] = None
    deposit_channel: MaybeWord = None
    deposit_chain_id: MaybeAmount = None
    deposit_token_address: MaybeText = None
    deposit_to_address: MaybeText = None
    created_at: MaybeInstant = None
    updated_at: MaybeInstant = None
    completed_at: MaybeInstant = None
    merchant_name: Annotated[MaybeDetail, Field(repr=False)] = None

    @property
    def terminal(self) -> bool:
        """Return whether the order can't change again."""
        return is_terminal(self.state)


class OrderList(Wire):
    """A page of orders, newest first, the service's time, and the number of unreadable rows.

    An empty list proves nothing: the service answers so while its database is down (settlement API, 4.7).
    """

    orders: tuple[Order, ...]
    fetched_at: MaybeInstant = None
    skipped: int = 0

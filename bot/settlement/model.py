"""The settlement service's values, as they are read from its JSON, and what its states mean.

The types of the fields say how each is read (`reading`). How calls can fail is in `errors`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from hashlib import blake2s
from typing import Annotated, ClassVar

from bot.core.money import Amount
from bot.payments.tokens import TOKENS
from bot.settlement.reading import (
    FROM_JSON,
    FROM_JSON_OR_STORED,
    AnyText,
    Instant,
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
    TextOrEmpty,
    WholeAmount,
    Word,
    WordOrEmpty,
    afterwards,
    arranged,
    cut,
    named,
    to_amount,
    to_cap,
    to_word,
)

BANK = "bank"
EWALLET = "ewallet"


@dataclass(frozen=True, slots=True)
class PayoutMethod:
    """One destination of the live list (settlement API, 2.2).

    Attributes:
        code: opaque. The service validates `code` and `name` as a pair, which go back exactly as received.
        name: as the service spells it.
        kind: `bank`, `ewallet`, or a kind that we don't know yet. It alone decides the format of the number.
        cap: the maximum rupiah of one payout, None for no cap. 0 with `unread`, so that no order fits.
        unread: the field that can't be read, with the service's own text: its cap, or its unknown kind. Else "".
    """

    code: Annotated[Text, named("bankCode")]
    name: Annotated[Text, named("bankName")]
    kind: str
    cap: int | None = None
    unread: str = ""

    __pydantic_config__: ClassVar = FROM_JSON

    @arranged
    @classmethod
    def _arrange(cls, row: object) -> object:
        """Without a known kind and a certain cap, no order fits."""
        if not isinstance(row, Mapping):
            return row
        cap, kind, unread = to_cap(row.get("maxAmountTransfer")), to_word(row.get("kind")), ""
        if isinstance(cap, str):
            cap, unread = 0, f"maxAmountTransfer “{cap}”"
        elif kind not in {BANK, EWALLET}:
            # Nobody knows the form of its numbers.
            cap, unread = 0, f"kind “{cut(kind)}”"
        return {**row, "kind": kind, "cap": cap, "unread": unread}

    @property
    def pair(self) -> tuple[str, str]:
        """Return code and name. Only both together identify a destination (settlement API, 4.5.3)."""
        return self.code, self.name

    def key(self) -> str:
        """Return ten characters that identify this pair of code and name in a button. They never change."""
        return blake2s(f"{self.code}\x00{self.name}".encode(), digest_size=5).hexdigest()


def find_by_pair(methods: Iterable[PayoutMethod], pair: tuple[str, str]) -> PayoutMethod | None:
    """Return the payout method with this code and name (settlement API, 4.5.3), or None if it isn't listed."""
    return next((each for each in methods if each.pair == pair), None)


QUOTE_STALE_AFTER = timedelta(minutes=10)
"""The service caches its quote for two minutes. After five times that, its updates have stopped."""


@dataclass(frozen=True, slots=True)
class Quote:
    """The service's cached rate (settlement API, 2.1): rupiah for one bitcoin, and when it was fetched."""

    btc_idr: Rate
    fetched_at: Instant
    usdc_idr: MaybeRate = None
    source: TextOrEmpty = ""

    __pydantic_config__: ClassVar = FROM_JSON_OR_STORED

    def is_stale(self, now: datetime) -> bool:
        """Return whether the rate is too old to be shown."""
        return now - self.fetched_at > QUOTE_STALE_AFTER


@dataclass(frozen=True, slots=True, kw_only=True)
class Deposit:
    """Where an EVM payer sends the token (settlement API, 2.6)."""

    channel: Word
    chain_id: WholeAmount
    chain_name: TextOrEmpty = ""
    token_symbol: TextOrEmpty = ""
    token_address: Text
    to_address: Text
    decimals: WholeAmount

    __pydantic_config__: ClassVar = FROM_JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRecord:
    """The details of the service's record that prove what became of the money. No decision depends on them.

    Missing and unreadable ones are None. Texts are printable and have 1 to 256 characters, or up to 2,000 for
    `ln_swap_invoice`. They come from the service, so check a hash before you put it into a link.

    Attributes:
        partner_redeem_id: the payout partner's id of the payout.
        partner_amount_idr: rupiah. The document doesn't say which.
        partner_burn_tx_hash: the transaction that burned the tokens for the payout.
        swap_tx_hash: the routing swap.
        ln_swap_tx_hash: the transaction that brought USDT for the Lightning payment.
        ln_swap_id: the service's id of its Lightning swap.
        ln_swap_invoice: the invoice that the service paid for the swap.
        invoice_ln_id: the service's id of the invoice that the payer paid.
        btc_idr_fetched_at: when the service fetched the locked rate.
        merchant_name: a person or a shop, so it is personal.
        tenant_id: whose order it is at the service.
    """

    partner_redeem_id: MaybeDetail = None
    partner_amount_idr: MaybeAmount = None
    partner_burn_tx_hash: MaybeDetail = None
    swap_tx_hash: MaybeDetail = None
    ln_swap_tx_hash: MaybeDetail = None
    ln_swap_id: MaybeDetail = None
    ln_swap_invoice: MaybeInvoice = None
    invoice_ln_id: MaybeDetail = None
    btc_idr_fetched_at: MaybeInstant = None
    merchant_name: MaybeDetail = field(default=None, repr=False)
    tenant_id: MaybeDetail = None

    __pydantic_config__: ClassVar = FROM_JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReport:
    """The service's record of one order (settlement API, 2.7). Branch on `state` only. Missing details are None.

    States and channels are plain texts, because the service can add some. Absent and null are both None.
    """

    service_id: Annotated[Text, named("id")]
    state: State
    sats: Annotated[WholeAmount, named("satAmount")]
    idr: Annotated[WholeAmount, named("idrAmount")]
    btc_idr: MaybeRate = None
    bolt11: Annotated[MaybeText, named("invoiceBolt11")] = None
    channel: Annotated[MaybeWord, named("depositChannel")] = None
    bank_code: Annotated[MaybeText, named("partnerPayoutBankCode")] = None
    bank_name: Annotated[MaybeText, named("partnerPayoutBankName")] = None
    recipient: Annotated[MaybeText, named("payoutRecipient")] = field(default=None, repr=False)
    holder: Annotated[MaybeText, named("bankAccountName")] = field(default=None, repr=False)
    created_at: MaybeInstant = None
    updated_at: MaybeInstant = None
    paid_at: Annotated[MaybeInstant, named("invoicePaidAt")] = None
    completed_at: MaybeInstant = None
    expires_at: Annotated[MaybeInstant, named("invoiceExpiresAt")] = None
    deposit: Deposit | None = None
    record: ServiceRecord = ServiceRecord()

    __pydantic_config__: ClassVar = FROM_JSON

    @arranged
    @classmethod
    def _arrange(cls, row: object) -> object:
        return {**row, "record": row, "deposit": _deposit_of(row)} if isinstance(row, Mapping) else row

    @property
    def since(self) -> datetime | None:
        """Return when the order reached its state, by the service's clock. None if the record has no time."""
        own = self.completed_at if self.state == COMPLETED else self.paid_at if self.is_payment else None
        return own or self.updated_at

    @property
    def is_payment(self) -> bool:
        """Return whether the state is the one for a received payment."""
        return STEP_OF_STATE.get(self.state) is OrderStep.PAID

    @property
    def is_terminal(self) -> bool:
        """Return whether the order can't change again (settlement API, 3). An unknown state isn't terminal."""
        return self.state in TERMINAL_STATES

    def as_created(self) -> "CreatedOrder":
        """Return what the answer to the order's creation would have said, as far as the record has it."""
        return CreatedOrder(
            service_id=self.service_id,
            sats=self.sats,
            idr=self.idr,
            btc_idr=self.btc_idr,
            bolt11=self.bolt11,
            deposit=self.deposit,
            expires_at=self.expires_at,
            state=self.state,
        )


def _deposit_of(row: Mapping[str, object]) -> Deposit | None:
    """Return the deposit instructions of an order, or None for a Lightning order.

    The record names only chain, contract and address (2.7). The rest comes from our list of tokens.
    """
    token = TOKENS.get(to_word(row.get("depositChannel")))
    contract, address = row.get("depositTokenAddress"), row.get("depositToAddress")
    if token is None or not (isinstance(contract, str) and contract and isinstance(address, str) and address):
        return None
    try:
        chain_id = to_amount(row.get("depositChainId"))
    except ValueError:
        chain_id = 0
    return Deposit(
        channel=token.code,
        chain_id=chain_id,
        chain_name=token.chain.name,
        token_symbol=token.symbol,
        token_address=contract,
        to_address=address,
        decimals=token.decimals,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRequest:
    """The request to create an order (settlement API, 2.5). `payout_method` is reserved by the service."""

    method: PayoutMethod
    number: str = field(repr=False)
    holder: str | None = field(repr=False)
    amount: Amount
    channel: str
    payout_method: str | None = None

    def body(self) -> Mapping[str, str | int]:
        """Return the JSON object to post: the fields that are set, under the document's names.

        Raises:
            ValueError: the amount isn't a whole number above zero, or a text is empty.
        """
        amount = self.amount.value
        texts = {
            "depositChannel": self.channel,
            "partnerBankCode": self.method.code,
            "partnerBankName": self.method.name,
            "recipientDetails": self.number,
        }
        optional = {"bankAccountName": self.holder, "payoutMethod": self.payout_method}
        texts |= {name: text for name, text in optional.items() if text is not None}
        if type(amount) is not int or amount <= 0 or not all(text and type(text) is str for text in texts.values()):
            raise ValueError("the request can't be put as the service wants it")
        return {"satAmount" if self.amount.currency == "SAT" else "idrAmount": amount, **texts}


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedOrder:
    """The service's answer to an order's creation (settlement API, 2.6): the locked amounts, and how to pay.

    `state` is usually empty, unless the answer was lost and these values come from the order's record. `deposit_uri` is
    the service's own URI of a deposit. Never show it, because it can lack token and amount. It is compared with the
    other parts, so it is kept as text, whatever it is. The record has none.
    """

    service_id: Annotated[Text, named("orderId")]
    sats: Annotated[WholeAmount, named("satAmount")]
    idr: Annotated[WholeAmount, named("idrAmount")]
    btc_idr: MaybeRate = None
    bolt11: Text | None = None
    deposit: Deposit | None = None
    expires_at: Annotated[MaybeInstant, named("invoiceExpiresAt")] = None
    state: TextOrEmpty = ""
    deposit_uri: Annotated[AnyText, named("deposit", "qrValue")] = None
    fetched_at: MaybeInstant = None

    __pydantic_config__: ClassVar = FROM_JSON


@dataclass(frozen=True, slots=True)
class NewestOrders:
    """The newest orders of our key, newest first, and the service's time when it listed them.

    An empty list proves nothing: the service answers so while its database is down (settlement API, 4.7). `skipped` is
    how many more orders the list had that can't be read.
    """

    reports: tuple[OrderReport, ...] = ()
    served_at: datetime | None = None
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class PlatformStats:
    """The service's statistics (settlement API, 2.4), under its keys and in its order.

    `values` can have any key, with a JSON value of any type and size.
    """

    values: Mapping[str, object]
    fetched_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rail:
    """One way to deposit (2.3), under the service's name for it. Missing values are empty or None."""

    name: str
    label: TextOrEmpty = ""
    summary: TextOrEmpty = ""
    token: TextOrEmpty = ""
    chain_id: MaybeAmount = None
    contract: Annotated[TextOrEmpty, named("contractAddress")] = ""
    address: Annotated[TextOrEmpty, named("safeAddress")] = ""
    decimals: MaybeAmount = None
    channel: Annotated[WordOrEmpty, named("depositChannel")] = ""

    __pydantic_config__: ClassVar = FROM_JSON

    @property
    def is_whole_token(self) -> bool:
        """Return whether it says all that a payer has to know of a token."""
        texts = (self.token, self.contract, self.address, self.channel)
        return all(texts) and self.chain_id is not None and self.decimals is not None


SWAP_RAIL = "arbitrumUsdt"
"""Where the service itself receives USDT (2.3). Never a deposit address for a payer."""

TOKEN_RAILS = {token.rail: token.code for token in TOKENS.values()}
RAILS = ("bitcoinOnchain", "lightning", SWAP_RAIL, *TOKEN_RAILS)


def _without_gaps(rails: tuple[Rail, ...]) -> tuple[Rail, ...]:
    """Leave out a token that isn't described whole. It isn't offered."""
    return tuple(rail for rail in rails if rail.name not in TOKEN_RAILS or rail.is_whole_token)


@dataclass(frozen=True, slots=True, kw_only=True)
class DepositRails:
    """Deposit rails (2.3). If `is_configured` is false, only Lightning works. `error` is the service's text."""

    is_configured: Annotated[bool, named("configured")]
    rails: Annotated[tuple[Rail, ...], afterwards(_without_gaps)]
    error: TextOrEmpty = ""

    __pydantic_config__: ClassVar = FROM_JSON

    @arranged
    @classmethod
    def _arrange(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        rows = {name: row for name in RAILS if isinstance(row := value.get(name), Mapping)}
        rails = [{"summary": row.get("role"), **row, "name": name} for name, row in rows.items()]
        return {**value, "rails": rails}

    def find(self, name: str) -> Rail | None:
        """Return the rail with the service's name for it, or None."""
        return next((rail for rail in self.rails if rail.name == name), None)

    @property
    def channels(self) -> frozenset[str]:
        """Return the codes of the tokens that the service offers, besides Lightning."""
        offered = [rail.name for rail in self.rails] if self.is_configured else []
        return frozenset(code for name, code in TOKEN_RAILS.items() if name in offered)


MaySend = Callable[[], bool]
"""Tells whether the request for an order may still be sent. It is called directly before the first byte."""


class OrderStep(IntEnum):
    """The step that users see. Steps are ordered, and an order never goes back to an earlier one."""

    CREATED = 0
    PAID = 1
    CONVERTING = 2
    SENDING = 3
    SENT = 4


STEP_OF_STATE = {
    "IDLE": OrderStep.CREATED,
    "NWC_CONNECTED": OrderStep.CREATED,
    "QR_SCANNED": OrderStep.CREATED,
    "ROUTE_SHOWN": OrderStep.CREATED,
    "LN_INVOICE_PAID": OrderStep.PAID,
    "LN_SWAP_PENDING": OrderStep.CONVERTING,
    "USDT_RECEIVED": OrderStep.CONVERTING,
    "USDC_SWAPPED": OrderStep.CONVERTING,
    "P2PM_ORDER_PLACED": OrderStep.SENDING,
    "P2PM_ORDER_CONFIRMED": OrderStep.SENDING,
    "IDR_SETTLED": OrderStep.SENDING,
    "COMPLETED": OrderStep.SENT,
}
"""Settlement API, section 3. `FAILED` isn't a step: an order can fail in any of them."""

COMPLETED = "COMPLETED"
FAILED = "FAILED"
TERMINAL_STATES = frozenset({COMPLETED, FAILED})


def step_after(known: OrderStep, state: str) -> OrderStep:
    """Return the step of an order at step `known` after the service reported `state`.

    The service can skip or repeat states, report an old one, or one that we don't know. The step never goes back.
    """
    return max(known, STEP_OF_STATE.get(state, known))

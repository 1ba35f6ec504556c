"""The contents of a BOLT11 invoice, as immutable values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.payments.amount import MSAT_PER_SAT

if TYPE_CHECKING:
    from datetime import datetime

# The default of BOLT11.
DEFAULT_EXPIRY = timedelta(hours=1)
DEFAULT_MIN_FINAL_CLTV = 18

# A century: far beyond any invoice, and every date is still representable.
MAX_EXPIRY = timedelta(days=36_525)

VAR_ONION, PAYMENT_SECRET, BASIC_MPP = 8, 14, 16
ROUTE_BLINDING, ATTRIBUTION_DATA, PAYMENT_METADATA = 24, 36, 48


@dataclass(frozen=True, slots=True)
class RouteHop:
    """One channel of a private route. `node` (33-byte hex) is where it starts."""

    node: str
    short_channel_id: int
    fee_base_msat: int
    fee_proportional_millionths: int
    cltv_expiry_delta: int


@dataclass(frozen=True, slots=True)
class Fallback:
    """An on-chain fallback address: a witness version 0 to 16, or 17 (P2PKH) or 18 (P2SH), and its hex."""

    version: int
    program: str


@dataclass(frozen=True, slots=True)
class Invoice:
    """A read and verified BOLT11 invoice.

    Hashes, keys and secrets are lower-case hex. The issuer of the invoice wrote `description`: escape it wherever it is
    shown. `repr` leaves out the text, the secret and the description, so it is safe to log.

    Attributes:
        currency: "bc", "tb", "tbs" or "bcrt".
        amount_msat: millisatoshi, at least 1; None if the payer chooses.
        timestamp: when it was created, aware UTC, whole seconds.
        expiry: how long after `timestamp` it can be paid.
        payee: the node's 33-byte public key, given in the invoice or recovered from its signature.
        features: numbers of the feature bits that are set (even: required, odd: optional).
        min_final_cltv: blocks that the last hop must leave.
        text: the invoice itself, lower case, without any `lightning:`.
    """

    currency: str
    amount_msat: int | None
    timestamp: datetime
    expiry: timedelta
    payment_hash: str
    payment_secret: str = field(repr=False)
    description: str | None = field(repr=False)
    description_hash: str | None
    payee: str
    features: frozenset[int]
    min_final_cltv: int
    route_hints: tuple[tuple[RouteHop, ...], ...]
    fallbacks: tuple[Fallback, ...]
    metadata: str | None = field(repr=False)
    text: str = field(repr=False)

    @property
    def amount_sat(self) -> int | None:
        """Return whole sats. Return None if the amount is open or not a whole number of sats."""
        if self.amount_msat is None or self.amount_msat % MSAT_PER_SAT:
            return None
        return self.amount_msat // MSAT_PER_SAT

    @property
    def expires_at(self) -> datetime:
        """Return the first time (aware UTC) at which it can't be paid."""
        return self.timestamp + self.expiry

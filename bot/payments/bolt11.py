"""BOLT11 invoices: reading, verifying, and checking against an order. Other packages import this module only.

An invoice that wallets would read differently is rejected. Some use the first of a repeated field and some the last.
Some reject a description beside a description hash. One that isn't fully understood is never shown to a payer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from bot.payments import bech32, secp256k1
from bot.payments.bech32 import CHARSET, groups_to_bytes, groups_to_int
from bot.payments.errors import (
    AlreadyExpired,
    InvoiceError,
    InvoiceMismatch,
    MalformedInvoice,
    UnsupportedInvoice,
    WrongAmount,
    WrongNetwork,
)
from bot.payments.tokens import LIGHTNING_SCHEME

# The BIP-173 currency prefixes that BOLT11 names: mainnet, testnet, signet, regtest.
CURRENCIES = frozenset({"bc", "tb", "tbs", "bcrt"})

MSAT_PER_SAT = 1_000
MAX_MSAT = 21_000_000 * 100_000_000 * MSAT_PER_SAT

# The largest unit is first: it writes an amount with the fewest digits.
MSAT_PER_UNIT = {"": 10**11, "m": 10**8, "u": 10**5, "n": 10**2}
PICO_PER_MSAT = 10

# Up to 20 digits: the whole bitcoin supply in the smallest unit. Longer ones are never converted.
_FRONT = re.compile(r"ln([a-z]+)(?:([1-9][0-9]{0,19})([a-z]?))?")


def parse_front(front: str) -> tuple[str, int | None]:
    """Read the human-readable part into (currency, millisatoshi or None if the payer chooses).

    Raises:
        MalformedInvoice: no Lightning prefix, an unknown multiplier, less than a millisatoshi, or over 21M BTC.
        UnsupportedInvoice: the currency isn't a Bitcoin network.
    """
    match = _FRONT.fullmatch(front)
    if match is None:
        raise MalformedInvoice("the part before the separator is no Lightning prefix and amount")
    currency, digits, multiplier = match.groups()
    if currency not in CURRENCIES:
        raise UnsupportedInvoice("not an invoice in bitcoin")
    return currency, None if digits is None else _to_msat(int(digits), multiplier)


def _to_msat(number: int, multiplier: str) -> int:
    if multiplier == "p":
        msat, rest = divmod(number, PICO_PER_MSAT)
        if rest:
            raise MalformedInvoice("the amount is finer than a millisatoshi")
    elif multiplier in MSAT_PER_UNIT:
        msat = number * MSAT_PER_UNIT[multiplier]
    else:
        raise MalformedInvoice("unknown multiplier of the amount")
    if msat > MAX_MSAT:
        raise MalformedInvoice("more than all bitcoin")
    return msat


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
    def expires_at(self) -> datetime:
        """Return the first time (aware UTC) at which it can't be paid."""
        return self.timestamp + self.expiry


__all__ = [
    "CURRENCIES",
    "AlreadyExpired",
    "Fallback",
    "Invoice",
    "InvoiceError",
    "InvoiceMismatch",
    "MalformedInvoice",
    "RouteHop",
    "UnsupportedInvoice",
    "WrongAmount",
    "WrongNetwork",
    "check",
    "decode",
    "normalize",
]

Groups = list[int]
TaggedFields = dict[str, list[Groups]]

HOP_BYTES = 51

_FIXED_LENGTHS = {"p": 52, "s": 52, "h": 52, "n": 53}
_AT_MOST_ONCE = "pshndxcm9"
_TAG_AND_LENGTH = 3

_KNOWN_FEATURES = {VAR_ONION, PAYMENT_SECRET, BASIC_MPP, ROUTE_BLINDING, ATTRIBUTION_DATA, PAYMENT_METADATA}
_NEEDS = {BASIC_MPP: PAYMENT_SECRET, PAYMENT_SECRET: VAR_ONION}

_LAST_KNOWN_FALLBACK = 18


def _split_fields(groups: Sequence[int]) -> TaggedFields:
    """Split the data between timestamp and signature into fields by tag. Ignore fields of a wrong length.

    Raises:
        MalformedInvoice: a field is cut off, or a unique one is repeated.
    """
    fields: TaggedFields = {}
    for tag, content in _cut(groups):
        if len(content) == _FIXED_LENGTHS.get(tag, len(content)):
            fields.setdefault(tag, []).append(content)
    for tag in _AT_MOST_ONCE:
        if len(fields.get(tag, [])) > 1:
            raise MalformedInvoice(f"field {tag} is repeated")
    return fields


def _read_hex(fields: TaggedFields, tag: str) -> str | None:
    """Read a field of bytes as hex. Return None if it is absent."""
    return groups_to_bytes(fields[tag][0]).hex() if tag in fields else None


def _read_required_hex(fields: TaggedFields, tag: str) -> str:
    """Read a required field of bytes as hex."""
    value = _read_hex(fields, tag)
    if value is None:
        raise MalformedInvoice(f"field {tag} is missing")
    return value


def _read_description(fields: TaggedFields) -> str | None:
    """Read the description. Return None if the invoice has a description hash instead.

    Raises:
        MalformedInvoice: neither or both of the two, or a description that isn't UTF-8.
    """
    if ("d" in fields) == ("h" in fields):
        raise MalformedInvoice("needs either a description or its hash")
    if "d" not in fields:
        return None
    try:
        return groups_to_bytes(fields["d"][0]).decode()
    except UnicodeDecodeError:
        raise MalformedInvoice("the description is not UTF-8") from None


def _read_expiry(fields: TaggedFields) -> timedelta:
    """Read how long the invoice can be paid. The default is an hour."""
    if "x" not in fields:
        return DEFAULT_EXPIRY
    seconds = groups_to_int(fields["x"][0])
    if seconds > MAX_EXPIRY.total_seconds():
        raise UnsupportedInvoice("expires more than a century after it was made")
    return timedelta(seconds=seconds)


def _read_min_final_cltv(fields: TaggedFields) -> int:
    """Read the blocks that the last hop must leave. The default is 18."""
    return groups_to_int(fields["c"][0]) if "c" in fields else DEFAULT_MIN_FINAL_CLTV


def _read_features(fields: TaggedFields) -> frozenset[int]:
    """Read the feature bits.

    Raises:
        UnsupportedInvoice: an unknown required (even) bit, or a feature without the one that it depends on.
    """
    bits = groups_to_int(fields["9"][0]) if "9" in fields else 0
    found = frozenset(place for place in range(bits.bit_length()) if bits >> place & 1)
    unknown = sorted(bit for bit in found if bit % 2 == 0 and bit not in _KNOWN_FEATURES)
    if unknown:
        raise UnsupportedInvoice(f"requires unknown feature {unknown[0]}")
    for feature, needed in _NEEDS.items():
        if _has(found, feature) and not _has(found, needed):
            raise UnsupportedInvoice(f"feature {feature} without feature {needed}")
    return found


def _read_route_hints(fields: TaggedFields) -> tuple[tuple[RouteHop, ...], ...]:
    """Read the private routes that lead to the payee.

    Raises:
        MalformedInvoice: a route with an incomplete hop.
    """
    return tuple(tuple(_hops(groups_to_bytes(content))) for content in fields.get("r", []))


def _read_fallbacks(fields: TaggedFields) -> tuple[Fallback, ...]:
    """Read the on-chain addresses, most preferred first. Unknown versions are skipped."""
    return tuple(
        Fallback(content[0], groups_to_bytes(content[1:]).hex())
        for content in fields.get("f", [])
        if content and content[0] <= _LAST_KNOWN_FALLBACK
    )


def _cut(groups: Sequence[int]) -> Iterator[tuple[str, Groups]]:
    position = 0
    while position < len(groups):
        head = groups[position : position + _TAG_AND_LENGTH]
        start = position + _TAG_AND_LENGTH
        position = start + groups_to_int(head[1:])
        if len(head) < _TAG_AND_LENGTH or position > len(groups):
            raise MalformedInvoice("a field runs over the end")
        yield CHARSET[head[0]], list(groups[start:position])


def _has(found: frozenset[int], feature: int) -> bool:
    return feature in found or feature + 1 in found


def _hops(data: bytes) -> Iterator[RouteHop]:
    if not data or len(data) % HOP_BYTES:
        raise MalformedInvoice("a private route is cut short")
    for start in range(0, len(data), HOP_BYTES):
        hop = data[start : start + HOP_BYTES]
        yield RouteHop(
            node=hop[:33].hex(),
            short_channel_id=int.from_bytes(hop[33:41], "big"),
            fee_base_msat=int.from_bytes(hop[41:45], "big"),
            fee_proportional_millionths=int.from_bytes(hop[45:49], "big"),
            cltv_expiry_delta=int.from_bytes(hop[49:51], "big"),
        )


# The capacity of the largest QR code. Real invoices have a few hundred characters.
MAX_LENGTH: Final = 7_089

TIMESTAMP_GROUPS: Final = 7
SIGNATURE_GROUPS: Final = 104


def decode(text: str) -> Invoice:
    """Read an invoice and verify its signature. Any case, spaces around it and a `lightning:` prefix are accepted.

    Raises:
        MalformedInvoice: not BOLT11, damaged, ambiguous, or with a wrong signature.
        UnsupportedInvoice: an unknown currency or required feature, or an expiry beyond a century.
    """
    if len(text) > MAX_LENGTH:
        raise MalformedInvoice("too long")
    text = _without_scheme(text)
    front, groups = bech32.decode(text)
    currency, amount_msat = parse_front(front)
    if len(groups) < TIMESTAMP_GROUPS + SIGNATURE_GROUPS:
        raise MalformedInvoice("too short")
    fields = _split_fields(groups[TIMESTAMP_GROUPS:-SIGNATURE_GROUPS])
    return Invoice(
        currency=currency,
        amount_msat=amount_msat,
        timestamp=datetime.fromtimestamp(bech32.groups_to_int(groups[:TIMESTAMP_GROUPS]), tz=UTC),
        expiry=_read_expiry(fields),
        payment_hash=_read_required_hex(fields, "p"),
        payment_secret=_read_required_hex(fields, "s"),
        description=_read_description(fields),
        description_hash=_read_hex(fields, "h"),
        payee=_verified_payee(front, groups, _read_hex(fields, "n")),
        features=_read_features(fields),
        min_final_cltv=_read_min_final_cltv(fields),
        route_hints=_read_route_hints(fields),
        fallbacks=_read_fallbacks(fields),
        metadata=_read_hex(fields, "m"),
        text=text.lower(),
    )


def normalize(text: str) -> str:
    """Return the canonical spelling of an invoice: lower case, without spaces and `lightning:`."""
    return _without_scheme(text).lower()


def _without_scheme(text: str) -> str:
    text = text.strip()
    return text[len(LIGHTNING_SCHEME) :] if text[: len(LIGHTNING_SCHEME)].lower() == LIGHTNING_SCHEME else text


def _verified_payee(front: str, groups: list[int], stated: str | None) -> str:
    """Return the payee's key: the stated one if it signed the invoice, or the recovered one if none is stated."""
    message = front.encode() + bech32.groups_to_padded_bytes(groups[:-SIGNATURE_GROUPS])
    digest = sha256(message).digest()
    signature = bech32.groups_to_bytes(groups[-SIGNATURE_GROUPS:])
    try:
        if stated is None:
            return secp256k1.recover(signature, digest).hex()
        # With a stated payee the recovery id is ignored, and a high S is rejected as BOLT11 requires.
        if secp256k1.is_signed_by(bytes.fromhex(stated), signature, digest):
            return stated
    except ValueError:
        raise MalformedInvoice("the signature is no signature, or the payee no key") from None
    raise MalformedInvoice("the signature is not the payee's")


def check(invoice: Invoice, *, sats: int, network: str, now: datetime) -> None:
    """Check that this is the invoice of an order (settlement API, 4.5: `satAmount` is the exact amount).

    Args:
        invoice: a decoded invoice.
        sats: the order's whole sats; the invoice must ask for exactly these, not a millisatoshi more or less.
        network: the currency prefix it must have, such as "bc".
        now: aware UTC, by our own clock.

    Raises:
        WrongNetwork: it is for another network.
        WrongAmount: it asks for another amount, or lets the payer choose.
        AlreadyExpired: it can no longer be paid.
    """
    if invoice.currency != network:
        raise WrongNetwork(expected=network, actual=invoice.currency)
    if invoice.amount_msat != sats * MSAT_PER_SAT:
        raise WrongAmount(expected_msat=sats * MSAT_PER_SAT, actual_msat=invoice.amount_msat)
    if invoice.expires_at <= now:
        raise AlreadyExpired(expired_at=invoice.expires_at, now=now)

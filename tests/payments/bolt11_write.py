"""Writing of real, signed BOLT11 invoices, with every field that the reader knows."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from bot.payments import bech32, secp256k1
from bot.payments.bolt11 import (
    BASIC_MPP,
    CURRENCIES,
    DEFAULT_MIN_FINAL_CLTV,
    MAX_EXPIRY,
    MAX_MSAT,
    MSAT_PER_UNIT,
    PAYMENT_SECRET,
    PICO_PER_MSAT,
    TIMESTAMP_GROUPS,
    VAR_ONION,
    RouteHop,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime, timedelta

# As today's nodes set them: the first two required, multi-part payments optional (the odd bit).
USUAL_FEATURES = frozenset({VAR_ONION, PAYMENT_SECRET, BASIC_MPP + 1})

_KEY_BYTES = 32
_MAX_FIELD_GROUPS = 1_023


class UnwritableInvoice(ValueError):
    """The given parts don't fit into a BOLT11 invoice."""


def encode(
    *,
    private_key: bytes,
    amount_msat: int | None,
    currency: str,
    timestamp: datetime,
    description: str,
    payment_hash: bytes,
    payment_secret: bytes,
    expiry: timedelta | None = None,
    min_final_cltv: int = DEFAULT_MIN_FINAL_CLTV,
    features: frozenset[int] = USUAL_FEATURES,
    route_hints: Sequence[Sequence[RouteHop]] = (),
) -> str:
    """Write and sign an invoice, in lower case. The payee is the key's node id.

    Args:
        private_key: 32 bytes, a valid secp256k1 secret.
        amount_msat: millisatoshi, 1 to 21M BTC; None lets the payer choose.
        currency: "bc", "tb", "tbs" or "bcrt".
        timestamp: aware; fractions of a second are dropped.
        description: at most 639 bytes of UTF-8.
        payment_hash: 32 bytes, the SHA-256 of the preimage.
        payment_secret: 32 bytes, random.
        expiry: 0 or more, at most a century; fractions of a second are dropped. None: the default of an hour.
        min_final_cltv: blocks, 0 or more.
        features: numbers of the feature bits to set.
        route_hints: private routes to the payee, most preferred first.

    Raises:
        UnwritableInvoice: a part is outside its range.
    """
    groups = [
        *_number(_seconds(timestamp), TIMESTAMP_GROUPS),
        *_bytes_field("s", _exactly(_KEY_BYTES, payment_secret)),
        *_bytes_field("p", _exactly(_KEY_BYTES, payment_hash)),
        *_bytes_field("d", _utf8(description)),
        *([] if expiry is None else field("x", _number(_lasting(expiry)))),
        *field("c", _number(min_final_cltv)),
        *_features_field(features),
        *(group for route in route_hints for group in _bytes_field("r", _route(route))),
    ]
    return sign(_write_front(currency, amount_msat), groups, private_key)


def sign(front: str, groups: list[int], private_key: bytes) -> str:
    """Sign the human-readable part, timestamp and fields, and write the invoice as bech32."""
    digest = sha256(front.encode() + bech32.groups_to_padded_bytes(groups)).digest()
    try:
        signature = secp256k1.sign(_exactly(_KEY_BYTES, private_key), digest)
    except ValueError:
        raise UnwritableInvoice("not a private key") from None
    return bech32.encode(front, [*groups, *bech32.bytes_to_groups(signature)])


def field(tag: str, content: Sequence[int]) -> list[int]:
    """Write a field: its tag, its length (at most 1023 groups) and its 5-bit groups."""
    if len(content) > _MAX_FIELD_GROUPS:
        raise UnwritableInvoice(f"field {tag} is too long")
    return [bech32.CHARSET.index(tag), *bech32.int_to_groups(len(content), 2), *content]


def _bytes_field(tag: str, data: bytes) -> list[int]:
    return field(tag, bech32.bytes_to_groups(data))


def _features_field(features: Iterable[int]) -> list[int]:
    numbers = set(features)
    if any(not 0 <= number < _MAX_FIELD_GROUPS * 5 for number in numbers):
        raise UnwritableInvoice("a feature bit is out of range")
    bits = sum(1 << number for number in numbers)
    return field("9", bech32.int_to_groups(bits)) if bits else []


def _route(hops: Sequence[RouteHop]) -> bytes:
    if not hops:
        raise UnwritableInvoice("a private route without hops")
    return b"".join(map(_hop, hops))


def _hop(hop: RouteHop) -> bytes:
    try:
        return (
            _exactly(33, bytes.fromhex(hop.node))
            + hop.short_channel_id.to_bytes(8, "big")
            + hop.fee_base_msat.to_bytes(4, "big")
            + hop.fee_proportional_millionths.to_bytes(4, "big")
            + hop.cltv_expiry_delta.to_bytes(2, "big")
        )
    except (ValueError, OverflowError):
        raise UnwritableInvoice("a route hop is out of range") from None


def _seconds(timestamp: datetime) -> int:
    if timestamp.tzinfo is None:
        raise UnwritableInvoice("the timestamp has no time zone")
    return int(timestamp.timestamp())


def _lasting(expiry: timedelta) -> int:
    if expiry > MAX_EXPIRY:
        raise UnwritableInvoice("the expiry is beyond a century")
    return int(expiry.total_seconds())


def _utf8(description: str) -> bytes:
    try:
        return description.encode()
    except UnicodeEncodeError:
        raise UnwritableInvoice("the description is no text") from None


def _number(number: int, length: int | None = None) -> list[int]:
    if number < 0 or (length is not None and number >= 1 << 5 * length):
        raise UnwritableInvoice("a number is out of range")
    return bech32.int_to_groups(number, length)


def _exactly(length: int, data: bytes) -> bytes:
    if len(data) != length:
        raise UnwritableInvoice(f"a key, hash or secret is not {length} bytes long")
    return data


def _write_front(currency: str, amount_msat: int | None) -> str:
    """Write the human-readable part with the shortest amount.

    Raises:
        UnwritableInvoice: an unknown currency, or an amount outside 1 msat to 21M BTC.
    """
    if currency not in CURRENCIES:
        raise UnwritableInvoice("the currency is no Bitcoin network")
    if amount_msat is None:
        return f"ln{currency}"
    if not 0 < amount_msat <= MAX_MSAT:
        raise UnwritableInvoice("the amount is outside 1 msat to 21 million bitcoin")
    for multiplier, unit in MSAT_PER_UNIT.items():
        if amount_msat % unit == 0:
            return f"ln{currency}{amount_msat // unit}{multiplier}"
    return f"ln{currency}{amount_msat * PICO_PER_MSAT}p"

"""The tagged fields of an invoice: splitting them, and reading each as BOLT11 defines.

An invoice that wallets would read differently is rejected. Some use the first of a repeated field and some the last.
Some reject a description beside a description hash.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot.payments.bech32 import CHARSET, groups_to_bytes, groups_to_int
from bot.payments.errors import MalformedInvoice, UnsupportedInvoice
from bot.payments.invoice import (
    ATTRIBUTION_DATA,
    BASIC_MPP,
    DEFAULT_EXPIRY,
    DEFAULT_MIN_FINAL_CLTV,
    MAX_EXPIRY,
    PAYMENT_METADATA,
    PAYMENT_SECRET,
    ROUTE_BLINDING,
    VAR_ONION,
    Fallback,
    RouteHop,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Groups = list[int]
TaggedFields = dict[str, list[Groups]]

HOP_BYTES = 51

_FIXED_LENGTHS = {"p": 52, "s": 52, "h": 52, "n": 53}
_AT_MOST_ONCE = "pshndxcm9"
_TAG_AND_LENGTH = 3

_KNOWN_FEATURES = {VAR_ONION, PAYMENT_SECRET, BASIC_MPP, ROUTE_BLINDING, ATTRIBUTION_DATA, PAYMENT_METADATA}
_NEEDS = {BASIC_MPP: PAYMENT_SECRET, PAYMENT_SECRET: VAR_ONION}

_LAST_KNOWN_FALLBACK = 18


def split_fields(groups: Sequence[int]) -> TaggedFields:
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


def read_hex(fields: TaggedFields, tag: str) -> str | None:
    """Read a field of bytes as hex. Return None if it is absent."""
    return groups_to_bytes(fields[tag][0]).hex() if tag in fields else None


def read_required_hex(fields: TaggedFields, tag: str) -> str:
    """Read a required field of bytes as hex."""
    value = read_hex(fields, tag)
    if value is None:
        raise MalformedInvoice(f"field {tag} is missing")
    return value


def read_description(fields: TaggedFields) -> str | None:
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


def read_expiry(fields: TaggedFields) -> timedelta:
    """Read how long the invoice can be paid. The default is an hour."""
    if "x" not in fields:
        return DEFAULT_EXPIRY
    seconds = groups_to_int(fields["x"][0])
    if seconds > MAX_EXPIRY.total_seconds():
        raise UnsupportedInvoice("expires more than a century after it was made")
    return timedelta(seconds=seconds)


def read_min_final_cltv(fields: TaggedFields) -> int:
    """Read the blocks that the last hop must leave. The default is 18."""
    return groups_to_int(fields["c"][0]) if "c" in fields else DEFAULT_MIN_FINAL_CLTV


def read_features(fields: TaggedFields) -> frozenset[int]:
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


def read_route_hints(fields: TaggedFields) -> tuple[tuple[RouteHop, ...], ...]:
    """Read the private routes that lead to the payee.

    Raises:
        MalformedInvoice: a route with an incomplete hop.
    """
    return tuple(tuple(_hops(groups_to_bytes(content))) for content in fields.get("r", []))


def read_fallbacks(fields: TaggedFields) -> tuple[Fallback, ...]:
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

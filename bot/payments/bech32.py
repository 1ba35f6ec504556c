"""Bech32 without the 90-character limit, as BOLT11 uses it (BIP-173), and its 5-bit groups."""

from __future__ import annotations

from functools import reduce
from operator import xor
from typing import TYPE_CHECKING

from bot.payments.errors import MalformedInvoice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
CHECKSUM_LENGTH = 6

_VALUE_OF = {char: value for value, char in enumerate(CHARSET)}
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
# For each value of the five highest bits: the generators of those that are set, added.
_REDUCTIONS = tuple(
    reduce(xor, (generator for place, generator in enumerate(_GENERATOR) if top >> place & 1), 0) for top in range(32)
)
_FIRST_PRINTABLE, _LAST_PRINTABLE = 33, 126


def decode(text: str) -> tuple[str, list[int]]:
    """Split into the lower-case human-readable part and the 5-bit groups. Verify and remove the checksum.

    Raises:
        MalformedInvoice: foreign characters, mixed case, no separator, or a wrong checksum.
    """
    if any(not _FIRST_PRINTABLE <= ord(char) <= _LAST_PRINTABLE for char in text):
        raise MalformedInvoice("characters outside printable ASCII")
    if text not in {text.lower(), text.upper()}:
        raise MalformedInvoice("upper and lower case mixed")
    prefix, separator, data = text.lower().rpartition("1")
    if not separator or not prefix or len(data) < CHECKSUM_LENGTH:
        raise MalformedInvoice("no separator, or too little on either side of it")
    groups = _values(data)
    if _polymod([*_expanded(prefix), *groups]) != 1:
        raise MalformedInvoice("the checksum does not hold")
    return prefix, groups[:-CHECKSUM_LENGTH]


def encode(prefix: str, groups: Sequence[int]) -> str:
    """Write a lower-case human-readable part and 5-bit groups (each 0 to 31) with their checksum."""
    padded = [*_expanded(prefix), *groups, *([0] * CHECKSUM_LENGTH)]
    checksum = _polymod(padded) ^ 1
    tail = [(checksum >> 5 * (CHECKSUM_LENGTH - 1 - place)) & 31 for place in range(CHECKSUM_LENGTH)]
    return f"{prefix}1" + "".join(CHARSET[group] for group in [*groups, *tail])


def groups_to_int(groups: Iterable[int]) -> int:
    """Read 5-bit groups as one big-endian number. No groups are 0."""
    number = 0
    for group in groups:
        number = number << 5 | group
    return number


def int_to_groups(number: int, length: int | None = None) -> list[int]:
    """Write a number of 0 or more in `length` groups, or in as few as possible."""
    count = (number.bit_length() + 4) // 5 if length is None else length
    return [(number >> 5 * place) & 31 for place in reversed(range(count))]


def groups_to_bytes(groups: Sequence[int]) -> bytes:
    """Read whole bytes. Drop the padding bits that don't fill a byte."""
    length, padding = divmod(len(groups) * 5, 8)
    return (groups_to_int(groups) >> padding).to_bytes(length, "big")


def groups_to_padded_bytes(groups: Sequence[int]) -> bytes:
    """Read all bits. Fill the last byte with zero bits, as an invoice's signature requires."""
    length = (len(groups) * 5 + 7) // 8
    padding = length * 8 - len(groups) * 5
    return (groups_to_int(groups) << padding).to_bytes(length, "big")


def bytes_to_groups(data: bytes) -> list[int]:
    """Write bytes as 5-bit groups. Pad the last one with zero bits."""
    length = (len(data) * 8 + 4) // 5
    padding = length * 5 - len(data) * 8
    return int_to_groups(int.from_bytes(data, "big") << padding, length)


def _values(data: str) -> list[int]:
    try:
        return [_VALUE_OF[char] for char in data]
    except KeyError:
        raise MalformedInvoice("a character that bech32 does not use") from None


def _expanded(prefix: str) -> list[int]:
    codes = prefix.encode("ascii")
    return [*(code >> 5 for code in codes), 0, *(code & 31 for code in codes)]


def _polymod(values: Iterable[int]) -> int:
    remainder = 1
    for value in values:
        remainder = (remainder & 0x1FFFFFF) << 5 ^ value ^ _REDUCTIONS[remainder >> 25]
    return remainder

"""Deposits in bitcoin-backed tokens: is it the token we know, and how does a wallet read the transfer (ERC-681).

The service's own `qrValue` names neither token nor amount, and a wallet that scans it may send the chain's own
coin. So the request is built here, from the parts, and only after `check_deposit` found each of them as it must be.

An address in mixed case carries a checksum (EIP-55), and one that doesn't hold is refused. An address in one case
carries none. None is ever altered, not even in case, so that the payer's wallet can verify it again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from Crypto.Hash import keccak

from bot.payments.errors import DepositCheckError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "KNOWN_TOKENS",
    "DepositCheckError",
    "KnownToken",
    "amount_text",
    "check_deposit",
    "checksummed",
    "transfer_uri",
    "units_for_sats",
]

SAT_DECIMALS = 8
MAX_SATS = 21_000_000 * 10**SAT_DECIMALS

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
UPPER_FROM = 8
"""EIP-55: a letter is upper case where the hash of the address has 8 or more in its place."""

_ZERO_ADDRESS = "0x" + "0" * 40


@dataclass(frozen=True, slots=True)
class KnownToken:
    """A token that a deposit may be paid in; one whole token stands for one bitcoin."""

    channel: str
    chain_id: int
    chain_name: str
    symbol: str
    address: str
    decimals: int


KNOWN_TOKENS: Mapping[str, KnownToken] = {
    token.channel: token
    for token in (
        KnownToken("cbbtc", 8453, "Base", "cbBTC", "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf", 8),
        KnownToken("btcb", 56, "BNB Chain", "BTCB", "0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c", 18),
    )
}


def check_deposit(channel: str, chain_id: int, token_address: str, decimals: int, to_address: str) -> KnownToken:
    """Make sure that deposit instructions (settlement API, 2.6) name a token we know, and somewhere to send it.

    Contracts are compared regardless of case. `to_address` must be 0x and 40 hex digits, and neither the zero
    address nor a known token's contract, where money would be lost.

    Raises:
        DepositCheckError: with the field that differs; such instructions must not be shown to a payer.
    """
    token = KNOWN_TOKENS.get(channel)
    if token is None:
        raise DepositCheckError("channel", expected=" or ".join(KNOWN_TOKENS), actual=channel)
    if chain_id != token.chain_id:
        raise DepositCheckError("chainId", expected=str(token.chain_id), actual=chain_id)
    if token_address.lower() != token.address.lower():
        raise DepositCheckError("tokenAddress", expected=token.address, actual=token_address)
    if decimals != token.decimals:
        raise DepositCheckError("decimals", expected=str(token.decimals), actual=decimals)
    _check_recipient(to_address)
    return token


def units_for_sats(token: KnownToken, sats: int) -> int:
    """Convert whole sats (1 to 21e14) to the token's base units, exactly.

    Raises:
        DepositCheckError: no such amount of bitcoin.
    """
    if not 0 < sats <= MAX_SATS:
        raise DepositCheckError("satAmount", expected=f"1 to {MAX_SATS}", actual=sats)
    units_per_sat: int = 10 ** (token.decimals - SAT_DECIMALS)
    return sats * units_per_sat


def transfer_uri(token: KnownToken, to_address: str, sats: int) -> str:
    """Write the ERC-681 request to transfer exactly `sats` worth of the token, the amount as a plain integer.

    Raises:
        DepositCheckError: an address or an amount that cannot be right.
    """
    _check_recipient(to_address)
    units = units_for_sats(token, sats)
    return f"ethereum:{token.address}@{token.chain_id}/transfer?address={to_address}&uint256={units}"


def amount_text(token: KnownToken, sats: int) -> str:
    """Write the amount of tokens as a payer types it, exactly: 29412 sats are "0.00029412".

    Raises:
        DepositCheckError: no such amount of bitcoin.
    """
    text = f"{Decimal(units_for_sats(token, sats)).scaleb(-token.decimals):f}"
    return text.rstrip("0").rstrip(".")


def checksummed(address: str) -> str:
    """Write 0x and 40 hex digits in the mixed case that is their checksum (EIP-55)."""
    digits = address[2:].lower()
    marks = keccak.new(digest_bits=256, data=digits.encode()).hexdigest()
    return "0x" + "".join(
        digit.upper() if int(mark, 16) >= UPPER_FROM else digit for digit, mark in zip(digits, marks, strict=False)
    )


def _check_recipient(to_address: str) -> None:
    if not _ADDRESS.fullmatch(to_address):
        raise DepositCheckError("toAddress", expected="0x and 40 hex digits", actual=to_address)
    is_mixed = to_address[2:] not in {to_address[2:].lower(), to_address[2:].upper()}
    if is_mixed and to_address != checksummed(to_address):
        raise DepositCheckError("toAddress", expected="a checksum that holds (EIP-55)", actual=to_address)
    lost = {_ZERO_ADDRESS, *(token.address.lower() for token in KNOWN_TOKENS.values())}
    if to_address.lower() in lost:
        raise DepositCheckError("toAddress", expected="an address that can hold a deposit", actual=to_address)

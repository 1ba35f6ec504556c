"""Deposits in bitcoin-backed tokens: checking the instructions and writing the transfer request (ERC-681).

The service's `qrValue` names neither token nor amount. A wallet that scans it could send the chain's native coin. So
the request is built here from the parts, after `check_deposit` has accepted each of them.

An address in mixed case has a checksum (EIP-55), and a wrong one is rejected. An address in one case has none. No
address is ever altered, not even in case, so that the payer's wallet can verify it again.
"""

from __future__ import annotations

import re
from decimal import Decimal

from bot.payments.errors import DepositCheckError
from bot.payments.tokens import TOKENS, Token

__all__ = [
    "DepositCheckError",
    "add_checksum",
    "check_deposit",
    "format_token_amount",
    "transfer_uri",
    "units_for_sats",
]

SAT_DECIMALS = 8
MAX_SATS = 21_000_000 * 10**SAT_DECIMALS

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
UPPER_FROM = 8
"""EIP-55: a letter is upper case if the hash of the address has 8 or more at its position."""

_ZERO_ADDRESS = "0x" + "0" * 40


def check_deposit(channel: str, chain_id: int, token_address: str, decimals: int, to_address: str) -> Token:
    """Check that deposit instructions (settlement API, 2.6) name a known token and a usable address.

    The case of contracts is ignored. `to_address` must be 0x and 40 hex digits, and neither the zero
    address nor a known token's contract, where money would be lost.

    Raises:
        DepositCheckError: a part is wrong, named by `field`. The instructions must not be shown.
    """
    token = TOKENS.get(channel)
    if token is None:
        raise DepositCheckError("channel", expected=" or ".join(TOKENS), actual=channel)
    if chain_id != token.chain.id:
        raise DepositCheckError("chainId", expected=str(token.chain.id), actual=chain_id)
    if token_address.lower() != token.contract.lower():
        raise DepositCheckError("tokenAddress", expected=token.contract, actual=token_address)
    if decimals != token.decimals:
        raise DepositCheckError("decimals", expected=str(token.decimals), actual=decimals)
    _check_recipient(to_address)
    return token


def units_for_sats(token: Token, sats: int) -> int:
    """Convert whole sats (1 to 21e14) to the token's base units, exactly.

    Raises:
        DepositCheckError: the amount is out of range.
    """
    if not 0 < sats <= MAX_SATS:
        raise DepositCheckError("satAmount", expected=f"1 to {MAX_SATS}", actual=sats)
    units_per_sat: int = 10 ** (token.decimals - SAT_DECIMALS)
    return sats * units_per_sat


def transfer_uri(token: Token, to_address: str, sats: int) -> str:
    """Write the ERC-681 request for exactly `sats` of the token, the amount as a plain integer.

    Raises:
        DepositCheckError: the address or the amount is invalid.
    """
    _check_recipient(to_address)
    units = units_for_sats(token, sats)
    return f"ethereum:{token.contract}@{token.chain.id}/transfer?address={to_address}&uint256={units}"


def format_token_amount(token: Token, sats: int) -> str:
    """Write the exact amount of tokens for a payer to type: 29412 sats are "0.00029412".

    Raises:
        DepositCheckError: the amount is out of range.
    """
    text = f"{Decimal(units_for_sats(token, sats)).scaleb(-token.decimals):f}"
    return text.rstrip("0").rstrip(".")


def add_checksum(address: str) -> str:
    """Write 0x and 40 hex digits in mixed case with the EIP-55 checksum."""
    from Crypto.Hash import keccak  # noqa: PLC0415  it brings a parser of C, and most orders have no deposit

    digits = address[2:].lower()
    marks = keccak.new(digest_bits=256, data=digits.encode()).hexdigest()
    return "0x" + "".join(
        digit.upper() if int(mark, 16) >= UPPER_FROM else digit for digit, mark in zip(digits, marks, strict=False)
    )


def _check_recipient(to_address: str) -> None:
    if not _ADDRESS.fullmatch(to_address):
        raise DepositCheckError("toAddress", expected="0x and 40 hex digits", actual=to_address)
    is_mixed = to_address[2:] not in {to_address[2:].lower(), to_address[2:].upper()}
    if is_mixed and to_address != add_checksum(to_address):
        raise DepositCheckError("toAddress", expected="a checksum that holds (EIP-55)", actual=to_address)
    lost = {_ZERO_ADDRESS, *(token.contract.lower() for token in TOKENS.values())}
    if to_address.lower() in lost:
        raise DepositCheckError("toAddress", expected="an address that can hold a deposit", actual=to_address)

"""Deposits in bitcoin-backed tokens: checking the instructions and writing the transfer request (ERC-681).

The service's `qrValue` names neither token nor amount. A wallet that scans it could send the chain's native coin. So
the request is built here from the parts, after `check_deposit` has accepted each of them. `qrValue` is never shown, but
it must name the same address and chain (`check_service_uri`): otherwise one of both is wrong.

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
    "check_service_uri",
    "format_token_amount",
    "transfer_uri",
    "units_for_sats",
]

SAT_DECIMALS = 8
MAX_SATS = 21_000_000 * 10**SAT_DECIMALS

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_URI = re.compile(
    r"(?i:ethereum):(?:pay-)?(?P<target>0x[0-9a-fA-F]{40})@(?P<chain>[0-9]{1,20})(?:/(?P<call>transfer)\?(?P<parameters>\S+))?",
    re.ASCII,
)
_NUMBER = re.compile(r"([0-9]{1,40})(?:\.([0-9]{1,40}))?(?:e([0-9]{1,2}))?", re.ASCII)
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


def check_service_uri(uri: str, token: Token, to_address: str, sats: int) -> None:
    """Check that the service's own URI of a deposit is for the same address and chain as its parts.

    The live service writes `ethereum:<toAddress>@<chainId>`. The document promises a URI that wallets can scan, so a
    transfer is accepted, too. Then the contract, and the amount if there is one, must be right as well.

    Raises:
        DepositCheckError: the URI is for something else, or can't be read.
    """
    read = _URI.fullmatch(uri.strip())
    if read is None or int(read["chain"]) != token.chain.id:
        raise DepositCheckError("qrValue", expected=f"a request on chain {token.chain.id}", actual=uri)
    target = to_address
    if read["call"]:
        target = token.contract
        _check_parameters(uri, read["parameters"], to_address, units_for_sats(token, sats))
    if read["target"].lower() != target.lower():
        raise DepositCheckError("qrValue", expected=f"a request to {target}", actual=uri)


def _check_parameters(uri: str, parameters: str, to_address: str, units: int) -> None:
    pairs = [tuple(part.split("=", 1)) for part in parameters.split("&")]
    known = dict(pair for pair in pairs if len(pair) == 2)  # noqa: PLR2004  a name and a value
    is_clear = len(known) == len(pairs) and known.keys() <= {"address", "uint256"}
    if not is_clear or known.get("address", "").lower() != to_address.lower():
        raise DepositCheckError("qrValue", expected=f"a transfer to {to_address}", actual=uri)
    if "uint256" in known and _read_number(known["uint256"]) != units:
        raise DepositCheckError("qrValue", expected=f"a transfer of {units} units", actual=uri)


def _read_number(text: str) -> Decimal | None:
    """Return a number as ERC-681 writes it: `25000`, or `2.5e4`."""
    return Decimal(text) if _NUMBER.fullmatch(text) else None


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


def format_token_amount(sats: int) -> str:
    """Write the exact amount of tokens for a payer to type: 29412 sats are "0.00029412" of every token."""
    return f"{Decimal(sats).scaleb(-SAT_DECIMALS):f}".rstrip("0").rstrip(".")


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

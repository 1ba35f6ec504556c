"""The human-readable part of an invoice, such as `lnbc2500u`: its network and its amount, in exact integers."""

from __future__ import annotations

import re

from bot.payments.errors import MalformedInvoice, UnsupportedInvoice

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

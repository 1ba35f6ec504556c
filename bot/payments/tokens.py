"""What a payer can pay with: Lightning, and each token on its chain.

This is the only place that names them. The settlement client, the checks, the screens, the tools for AI agents and the
sandbox all read it here. A new token needs one `Token` in `TOKENS`, and its name in each catalogue (`name_key`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

LIGHTNING: Final = "lightning"
"""The code of orders that are paid with an invoice. Every other code is that of a token."""

TRANSACTION_HASH: Final = re.compile(r"0x[0-9A-Fa-f]{64}")

LIGHTNING_SCHEME: Final = "lightning:"
"""The prefix of a link to an invoice."""

LIGHTNING_WALLETS: Final = ("Phoenix", "Wallet of Satoshi", "Blink", "ZEUS", "Strike")
"""Wallets that users read by name. They are examples: every wallet that pays a Lightning invoice works."""


@dataclass(frozen=True, slots=True)
class Chain:
    """An EVM chain; `id` is its number of EIP-155, and `explorer` the address of a site that shows its transactions."""

    id: int
    name: str
    explorer: str

    def transaction_url(self, tx_hash: str) -> str | None:
        """Return the address of a transaction's page, or None if `tx_hash` isn't 0x and 64 hex digits."""
        return f"{self.explorer}/tx/{tx_hash}" if TRANSACTION_HASH.fullmatch(tx_hash) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token that a deposit can be paid in. One whole token is worth one bitcoin.

    Attributes:
        code: its `depositChannel` at the service (settlement API, 2.5), and the value that orders are saved with.
        rail: its key in `deposit/rails` (settlement API, 2.3).
        contract: 0x and 40 hex digits, in the mixed case that is their checksum (EIP-55).
        decimals: 8 or more, so that a sat is a whole number of units.
    """

    code: str
    rail: str
    symbol: str
    chain: Chain
    contract: str
    decimals: int

    @property
    def english_name(self) -> str:
        """Return what AI agents read, as "cbBTC on Base". Users read the text of `name_key`."""
        return f"{self.symbol} on {self.chain.name}"


ARBITRUM: Final = Chain(42161, "Arbitrum", "https://arbiscan.io")
"""Where the service itself receives USDT. Payers never send anything there."""

BASE: Final = Chain(8453, "Base", "https://basescan.org")
BNB_CHAIN: Final = Chain(56, "BNB Chain", "https://bscscan.com")

TOKENS: Final[Mapping[str, Token]] = {
    token.code: token
    for token in (
        Token(
            code="cbbtc",
            rail="baseCbbtc",
            symbol="cbBTC",
            chain=BASE,
            contract="0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf",
            decimals=8,
        ),
        Token(
            code="btcb",
            rail="bscBtcb",
            symbol="BTCB",
            chain=BNB_CHAIN,
            contract="0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c",
            decimals=18,
        ),
    )
}
"""The tokens by code, in display order."""

CODES: Final = (LIGHTNING, *TOKENS)
"""Every way to pay."""

CHAIN_NAMES: Final[Mapping[int, str]] = {
    chain.id: chain.name for chain in (ARBITRUM, *(token.chain for token in TOKENS.values()))
}


SYMBOLS: Final = tuple(dict.fromkeys(token.symbol for token in TOKENS.values()))


def name_key(code: str) -> str:
    """Return the key of the text that names a way to pay."""
    return f"payments.channel.{code}"

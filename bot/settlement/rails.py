"""Deposit rails (settlement API, 2.3) as the port tells them: under the service's own names, and in its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.payments.tokens import TOKENS
from bot.settlement import model as ports

if TYPE_CHECKING:
    from bot.settlement.client import wire


def stated_rails(rails: wire.DepositRails) -> ports.DepositRails:
    """Those that are there and were understood."""
    told = (
        _words("bitcoinOnchain", rails.bitcoin_onchain),
        _words("lightning", rails.lightning),
        _swap_target("arbitrumUsdt", rails.arbitrum_usdt),
        *(_token(token.rail, rails.tokens[token.code]) for token in TOKENS.values()),
    )
    known = tuple(rail for rail in told if rail is not None)
    return ports.DepositRails(is_configured=rails.configured, rails=known, error=rails.error or "")


def _words(name: str, rail: wire.RailText | None) -> ports.Rail | None:
    return None if rail is None else ports.Rail(name=name, summary=rail.summary or "")


def _swap_target(name: str, rail: wire.LightningSwapTarget | None) -> ports.Rail | None:
    if rail is None:
        return None
    return ports.Rail(
        name=name,
        summary=rail.role or "",
        token=rail.token or "",
        chain_id=rail.chain_id,
        address=rail.safe_address or "",
    )


def _token(name: str, rail: wire.DepositRail | None) -> ports.Rail | None:
    if rail is None:
        return None
    return ports.Rail(
        name=name, token=rail.token, chain_id=rail.chain_id, contract=rail.contract_address, address=rail.safe_address
    )

"""Deposits on EVM chains: the available rails and the instructions for a payer (settlement API, 2.3 and 2.6)."""

from __future__ import annotations

import hashlib
from typing import Final

from bot.payments.erc681 import add_checksum
from bot.payments.tokens import ARBITRUM, LIGHTNING, TOKENS, Token

SATS_PER_BITCOIN_DIGITS: Final = 8


def safe_address(tenant: str) -> str:
    """Return the tenant's smart account: always the same, and different for every tenant."""
    return add_checksum(f"0x{hashlib.sha256(f'safe/{tenant}'.encode()).hexdigest()[:40]}")


def instructions(token: Token, *, tenant: str, sats: int, plain_qr: bool, wrong: str | None) -> dict[str, object]:
    """Return DepositInstructions (settlement API, 2.6).

    Args:
        token: the token to pay with.
        tenant: whose smart account receives it.
        sats: the amount.
        plain_qr: the live service's `qrValue`, which names neither token nor amount.
        wrong: "contract", "chain" or "decimals" makes that part wrong, to test clients. "qr" lets `qrValue` name
            another address than the rest.
    """
    target = safe_address(tenant)
    contract = f"0x{'00' * 19}42" if wrong == "contract" else token.contract
    chain_id = 1 if wrong == "chain" else token.chain.id
    scanned = safe_address(f"another than {tenant}") if wrong == "qr" else target
    transfer = f"ethereum:{contract}@{chain_id}/transfer?address={scanned}&uint256={_units(token, sats)}"
    return {
        "channel": token.code,
        "chainId": chain_id,
        "chainName": "Ethereum" if wrong == "chain" else token.chain.name,
        "tokenSymbol": token.symbol,
        "tokenAddress": contract,
        "toAddress": target,
        "decimals": token.decimals - 2 if wrong == "decimals" else token.decimals,
        "qrValue": f"ethereum:{scanned}@{chain_id}" if plain_qr else transfer,
    }


def _units(token: Token, sats: int) -> int:
    """Return the token's smallest units worth `sats`, exactly."""
    return sats * int(10 ** (token.decimals - SATS_PER_BITCOIN_DIGITS))


NOT_CONFIGURED = "deposit wallet seed is not configured"


def rails(tenant: str, *, configured: bool, explains_missing: bool) -> dict[str, object]:
    """Return DepositRails (settlement API, 2.3). Without a wallet seed, only Lightning is available.

    `explains_missing` says that an `error` then takes the place of Lightning's description.
    """
    lightning = {"label": "Lightning", "summary": "Pay a BOLT11 invoice from any Lightning wallet."}
    always: dict[str, object] = {
        "configured": configured,
        "bitcoinOnchain": {"label": "Bitcoin on-chain", "summary": "Not available yet."},
    }
    if not configured:
        return always | ({"error": NOT_CONFIGURED} if explains_missing else {LIGHTNING: lightning})
    always[LIGHTNING] = lightning
    target = safe_address(tenant)
    inner = {"chainId": ARBITRUM.id, "safeAddress": target, "token": "USDT", "role": "Receives the Lightning swap"}
    return always | {"arbitrumUsdt": inner} | {token.rail: _rail(token, target) for token in TOKENS.values()}


def _rail(token: Token, target: str) -> dict[str, object]:
    return {
        "chainId": token.chain.id,
        "safeAddress": target,
        "token": token.symbol,
        "contractAddress": token.contract,
        "decimals": token.decimals,
        "depositChannel": token.code,
    }

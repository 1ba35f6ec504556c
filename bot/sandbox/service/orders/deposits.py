"""Deposits on EVM chains: the available rails and the instructions for a payer (settlement API, 2.3 and 2.6)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from bot.payments.erc681 import checksummed

SATS_PER_BITCOIN_DIGITS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A token on a chain. `decimals` is at least 8, so that a sat is a whole number of units."""

    channel: str
    rail: str
    chain_id: int
    chain_name: str
    token: str
    contract: str
    decimals: int

    def units(self, sats: int) -> int:
        """Return the token's smallest units worth `sats`, exactly."""
        return sats * int(10 ** (self.decimals - SATS_PER_BITCOIN_DIGITS))


CHAINS: Final = {
    "cbbtc": Chain(
        channel="cbbtc",
        rail="baseCbbtc",
        chain_id=8453,
        chain_name="Base",
        token="cbBTC",  # noqa: S106  a coin's symbol, no secret
        contract="0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf",
        decimals=8,
    ),
    "btcb": Chain(
        channel="btcb",
        rail="bscBtcb",
        chain_id=56,
        chain_name="BNB Chain",
        token="BTCB",  # noqa: S106  a coin's symbol, no secret
        contract="0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c",
        decimals=18,
    ),
}


def safe_address(tenant: str) -> str:
    """Return the tenant's smart account: always the same, and different for every tenant."""
    return checksummed(f"0x{hashlib.sha256(f'safe/{tenant}'.encode()).hexdigest()[:40]}")


def instructions(chain: Chain, *, tenant: str, sats: int, plain_qr: bool, wrong: str | None) -> dict[str, object]:
    """Return DepositInstructions (settlement API, 2.6).

    Args:
        chain: where the deposit goes.
        tenant: whose smart account receives it.
        sats: the amount.
        plain_qr: the live service's `qrValue`, which names neither token nor amount.
        wrong: "contract", "chain" or "decimals" makes that part wrong, to test clients.
    """
    target = safe_address(tenant)
    contract = f"0x{'00' * 19}42" if wrong == "contract" else chain.contract
    chain_id = 1 if wrong == "chain" else chain.chain_id
    transfer = f"ethereum:{contract}@{chain_id}/transfer?address={target}&uint256={chain.units(sats)}"
    return {
        "channel": chain.channel,
        "chainId": chain_id,
        "chainName": "Ethereum" if wrong == "chain" else chain.chain_name,
        "tokenSymbol": chain.token,
        "tokenAddress": contract,
        "toAddress": target,
        "decimals": chain.decimals - 2 if wrong == "decimals" else chain.decimals,
        "qrValue": f"ethereum:{target}@{chain_id}" if plain_qr else transfer,
    }


def rails(tenant: str, *, configured: bool) -> dict[str, object]:
    """Return DepositRails (settlement API, 2.3). Without a wallet seed, only Lightning is available."""
    always: dict[str, object] = {
        "configured": configured,
        "bitcoinOnchain": {"label": "Bitcoin on-chain", "summary": "Not available yet."},
        "lightning": {"label": "Lightning", "summary": "Pay a BOLT11 invoice from any Lightning wallet."},
    }
    if not configured:
        return always
    target = safe_address(tenant)
    inner = {"chainId": 42161, "safeAddress": target, "token": "USDT", "role": "Receives the Lightning swap"}
    return always | {"arbitrumUsdt": inner} | {chain.rail: _rail(chain, target) for chain in CHAINS.values()}


def _rail(chain: Chain, target: str) -> dict[str, object]:
    return {
        "chainId": chain.chain_id,
        "safeAddress": target,
        "token": chain.token,
        "contractAddress": chain.contract,
        "decimals": chain.decimals,
        "depositChannel": chain.channel,
    }

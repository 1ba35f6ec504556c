"""The Lightning wallets that users read by name. This list is the only place that names them."""

from typing import Final

LIGHTNING_WALLETS: Final = ("Phoenix", "Wallet of Satoshi", "Blink", "ZEUS", "Strike")
"""Wallets that pay any Lightning invoice. They are examples: every other such wallet works, too."""

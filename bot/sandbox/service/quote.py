"""A moving price: a seeded random walk that returns to its start (settlement API, 2.1 and 4.1)."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Final

from bot.sandbox.service.orders.orders import iso

if TYPE_CHECKING:
    from bot.sandbox.service.storage import Storage

_FACT: Final = "quote"
_SATS_PER_BITCOIN: Final = 100_000_000
_CENT: Final = Decimal("0.01")
_USUAL_BTC: Final = Decimal(1_600_000_000)
_USUAL_USDC: Final = Decimal(16_250)
_PULL: Final = 0.02
_SPREAD: Final = 0.0006


@dataclass(frozen=True, slots=True)
class Quote:
    """Rupiah for one bitcoin and one USDC, and when they were fetched (aware UTC, the service's clock)."""

    btc_idr: Decimal
    usdc_idr: Decimal
    fetched_at: datetime

    def as_json(self) -> dict[str, object]:
        """Return BtcIdrQuote."""
        return {
            "btcIdr": float(self.btc_idr),
            "usdcIdr": float(self.usdc_idr),
            "fetchedAt": iso(self.fetched_at),
            "source": "sandbox",
        }

    def locked(self, percent: float) -> Quote:
        """Return the quote that a new order locks: `percent` worse for the payer."""
        if percent == 0:
            return self
        worse = self.btc_idr / (1 + Decimal(str(percent)) / 100)
        return Quote(worse.quantize(_CENT), self.usdc_idr, self.fetched_at)


class QuoteBoard:
    """The latest quote, moved when its cache has expired."""

    def __init__(self, storage: Storage, seed: int) -> None:
        self._storage = storage
        # Not for secrets: the same seed must give the same prices.
        self._random = random.Random(seed)  # noqa: S311
        kept = json.loads(storage.fact(_FACT) or "{}")
        self._btc = Decimal(kept.get("btcIdr", _USUAL_BTC))
        self._usdc = Decimal(kept.get("usdcIdr", _USUAL_USDC))
        self._cached: Quote | None = None

    def current(self, now: datetime, ttl_seconds: int) -> Quote:
        """Return the quote to show and to lock, at most `ttl_seconds` old."""
        cached = self._cached
        if cached is not None and timedelta(0) <= now - cached.fetched_at < timedelta(seconds=ttl_seconds):
            return cached
        if cached is not None:
            self._btc = self._moved(self._btc, _USUAL_BTC)
            self._usdc = self._moved(self._usdc, _USUAL_USDC)
        return self._show(now)

    def set(self, now: datetime, btc_idr: Decimal | None, usdc_idr: Decimal | None) -> Quote:
        """Set the price at once. The walk continues from there."""
        self._btc = btc_idr or self._btc
        self._usdc = usdc_idr or self._usdc
        return self._show(now)

    def _show(self, now: datetime) -> Quote:
        self._cached = Quote(self._btc.quantize(_CENT), self._usdc.quantize(_CENT), now)
        self._storage.set_fact(_FACT, json.dumps({"btcIdr": str(self._btc), "usdcIdr": str(self._usdc)}))
        return self._cached

    def _moved(self, rate: Decimal, usual: Decimal) -> Decimal:
        home = (usual - rate) * Decimal(str(_PULL))
        return rate + home + rate * Decimal(str(self._random.gauss(0, _SPREAD)))


def sats_for(idr: int, btc_idr: Decimal) -> int:
    """Return the sats that buy at least `idr` rupiah, rounded up."""
    return int((idr * _SATS_PER_BITCOIN / btc_idr).to_integral_value(ROUND_CEILING))


def idr_for(sats: int, btc_idr: Decimal) -> int:
    """Return the rupiah that `sats` buy, rounded down."""
    return int((sats * btc_idr / _SATS_PER_BITCOIN).to_integral_value(ROUND_FLOOR))

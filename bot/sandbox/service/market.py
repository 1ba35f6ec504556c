"""What the service offers: a moving price, and the payout methods (settlement API, 2.1, 2.2, 4.1 and 4.2).

The price is a seeded random walk that returns to its start. The methods can change while the service runs.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from importlib import resources
from typing import TYPE_CHECKING, Final

from bot.sandbox.service.orders import iso
from bot.sandbox.service.settings import ControlRefusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.sandbox.service.book import Storage
    from bot.sandbox.service.settings import Profile

Row = dict[str, object]

_BCA: Final = "014"
_CAP: Final = "maxAmountTransfer"


@dataclass(frozen=True, slots=True)
class PayoutMethod:
    """One payout method, as new orders are checked against it. `cap` is whole rupiah per transaction, or None."""

    bank_code: str
    bank_name: str
    kind: str
    cap: int | None


class MethodsList:
    """The payout methods: the current list, and the cached copy that the service answers with."""

    def __init__(self) -> None:
        self._rows = _shipped()
        self._as_given = False
        self._cached: list[Row] = []
        self._cached_at: datetime | None = None
        self._cached_for: Profile | None = None

    def listing(self, profile: Profile, now: datetime, ttl_seconds: int) -> list[Row]:
        """Return the rows of PayoutMethodsResponse.

        They are up to `ttl_seconds` older than the list that orders are checked with.
        """
        at = self._cached_at
        fresh = at is not None and timedelta(0) <= now - at < timedelta(seconds=ttl_seconds)
        if not fresh or self._cached_for is not profile:
            self._cached, self._cached_at, self._cached_for = self.current(profile), now, profile
        return self._cached

    def pair(self, code: str, name: str, profile: Profile) -> PayoutMethod | None:
        """Return the current method with exactly this code and this name (settlement API, 4.5, rule 3)."""
        for row in self.current(profile):
            if row["bankCode"] == code and row["bankName"] == name:
                return PayoutMethod(code, name, str(row["kind"]), _cap(row.get(_CAP)))
        return None

    def first(self, profile: Profile) -> PayoutMethod:
        """Return any method, for generated orders.

        Raises:
            ControlRefusal: 409, the list is empty.
        """
        rows = self.current(profile)
        if not rows:
            raise ControlRefusal(409, "the methods list is empty")
        row = rows[0]
        return PayoutMethod(str(row["bankCode"]), str(row["bankName"]), str(row["kind"]), None)

    def replace(self, rows: object) -> None:
        """Use exactly these rows from now on, with their types unchanged. None restores the default rows.

        Raises:
            ControlRefusal: 400, a row lacks a required field.
        """
        self._rows = _shipped() if rows is None else _checked(rows)
        self._as_given = rows is not None

    def remove(self, bank_code: str, profile: Profile) -> None:
        """Remove one method by its listed code.

        Raises:
            ControlRefusal: 404, no such code.
        """
        written = self.current(profile)
        gone = [row["bankName"] for row in written if row["bankCode"] == bank_code]
        if not gone:
            raise ControlRefusal(404, "no such bankCode in the list")
        self._rows = [row for row in self._rows if row["bankName"] not in gone]

    def flush(self) -> None:
        """Drop the cached copy."""
        self._cached_at = None

    def current(self, profile: Profile) -> list[Row]:
        """Return the current list, without the cache."""
        rows = [dict(row) if self._as_given else _written(row, profile) for row in self._rows]
        return _bca_first(rows) if profile.bca_first else rows


def _shipped() -> list[Row]:
    text = (resources.files("bot.sandbox.service") / "payout-methods.json").read_text(encoding="utf-8")
    rows: list[Row] = json.loads(text)["methods"]
    return rows


def _checked(rows: object) -> list[Row]:
    if not isinstance(rows, list) or not all(_is_method(row) for row in rows):
        raise ControlRefusal(400, "each method needs bankCode, bankName and kind (usually bank or ewallet)")
    return [dict(row) for row in rows]


def _is_method(row: object) -> bool:
    return isinstance(row, dict) and all(isinstance(row.get(name), str) for name in ("bankCode", "bankName", "kind"))


def _bca_first(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["bankCode"] != _BCA, str(row["bankName"])))


def _written(row: Row, profile: Profile) -> Row:
    shown = {name: value for name, value in row.items() if name != "numericCode"}
    if profile.numeric_ewallet_codes and "numericCode" in row:
        shown["bankCode"] = row["numericCode"]
    return _with_mixed_cap(shown) if profile.mixed_caps else shown | {_CAP: _cap(row[_CAP])}


def _with_mixed_cap(row: Row) -> Row:
    """Return the row with its cap in one of the four observed formats, always the same for the same name."""
    cap = _cap(row[_CAP])
    ways: tuple[Row, ...] = ({_CAP: str(cap)}, {_CAP: cap}, {_CAP: None}, {})
    return {name: value for name, value in row.items() if name != _CAP} | ways[len(str(row["bankName"])) % len(ways)]


def _cap(value: object) -> int | None:
    try:
        return None if value is None else int(float(str(value)))
    except (ValueError, OverflowError):
        return None


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

    def set(self, now: datetime, btc_idr: Decimal | None) -> Quote:
        """Set the price at once, or keep it for None. The walk continues from there."""
        self._btc = btc_idr or self._btc
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

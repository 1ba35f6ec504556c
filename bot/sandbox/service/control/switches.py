"""The settings that `/control/settings` can change while the sandbox runs.

One table of names is used to check, show and store them, so that these can't disagree. Settings aren't kept over a
restart. Orders and keys are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from bot.sandbox.service.control.profile import DOCUMENTED, Profile, profile_named
from bot.sandbox.service.errors import ControlRefusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WRONG_INVOICES: Final = ("amount", "network", "expired")
WRONG_DEPOSITS: Final = ("contract", "chain", "decimals", "qr")
_A_YEAR: Final = 31_536_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """The running service's settings.

    Attributes:
        speed_seconds: between two states of a paid order; None means manually.
        speed_by_bank: the same for orders to some bank codes, instead of `speed_seconds`.
        stuck: paid orders stay in their state, at any speed.
        invoice_expiry_seconds: 1 s to a year. None: invoices and records have no expiry of their own.
        clock_skew_seconds: how far the service's clock is ahead of true time (negative: behind).
        locked_price_percent: how much worse for the payer a locked price is than the quote shown.
        fee_on_top: whether the locked price adds the settlement fee to the quote shown, which then lacks it.
        wrong_invoice: what is wrong with new invoices: "amount", "network", "expired" or None.
        wrong_deposit: what is wrong with new deposit instructions, one of `WRONG_DEPOSITS`, or None.
        configured: whether EVM deposits are possible (settlement API, 2.3).
        database_down: the transient outage of settlement API, 4.7 and 7.
        key_check_down: the key check itself answers 503.
        daily_cap_idr, monthly_cap_idr: the payout partner's caps over all tenants, or None.
        routing_hop: whether orders pass through USDC_SWAPPED (settlement API, 3).
        seconds_between_polls: of one order by one tenant; 0 turns the limiter off.
        quote_cache_seconds, methods_cache_seconds: None means the profile's value.
        stats_without: keys left out of the statistics.
    """

    profile: Profile = DOCUMENTED
    network: str = "bcrt"
    speed_seconds: float | None = 3.0
    speed_by_bank: Mapping[str, float] = field(default_factory=dict)
    stuck: bool = False
    invoice_expiry_seconds: int | None = 3600
    clock_skew_seconds: int = 0
    locked_price_percent: float = 0.0
    fee_on_top: bool = False
    wrong_invoice: str | None = None
    wrong_deposit: str | None = None
    configured: bool = True
    database_down: bool = False
    key_check_down: bool = False
    daily_cap_idr: int | None = None
    monthly_cap_idr: int | None = None
    routing_hop: bool = True
    seconds_between_polls: float = 1.0
    quote_cache_seconds: int | None = None
    methods_cache_seconds: int | None = None
    stats_without: tuple[str, ...] = ()

    def speed_of(self, bank_code: str) -> float | None:
        """Return the seconds between two states of a paid order to this bank code. None means manually."""
        return None if self.stuck else self.speed_by_bank.get(bank_code, self.speed_seconds)

    @property
    def quote_ttl_seconds(self) -> int:
        """Return how many seconds a quote is cached."""
        given = self.quote_cache_seconds
        return self.profile.quote_cache_seconds if given is None else given

    @property
    def methods_ttl_seconds(self) -> int:
        """Return how many seconds the methods list is cached."""
        given = self.methods_cache_seconds
        return self.profile.methods_cache_seconds if given is None else given

    def changed(self, wanted: Mapping[str, object]) -> Switches:
        """Return a copy with the JSON fields of a control request applied: all of them or none.

        Raises:
            ControlRefusal: 400, an unknown name or a value out of range.
        """
        unknown = sorted(set(wanted) - set(_READERS))
        if unknown:
            raise ControlRefusal(400, f"unknown setting {', '.join(unknown)}; known: {', '.join(_READERS)}")
        values: dict[str, Any] = {_field(name): _READERS[name](name, value) for name, value in wanted.items()}
        return replace(self, **values)

    def as_json(self) -> dict[str, object]:
        """Return the answer to `GET /control/settings`."""
        shown: dict[str, object] = {name: getattr(self, _field(name)) for name in _READERS}
        return shown | {"profile": self.profile.name, "statsWithout": list(self.stats_without)}


def _field(name: str) -> str:
    return re.sub(r"[A-Z]", lambda hit: f"_{hit[0].lower()}", name)


def _profile(_name: str, value: object) -> Profile:
    return profile_named(str(value))


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ControlRefusal(400, f"{name} must be true or false")
    return value


def _number(low: float, high: float) -> Callable[[str, object], float]:
    def read(name: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ControlRefusal(400, f"{name} must be a number from {low:g} to {high:g}")
        return value

    return read


def _whole(low: int, high: int) -> Callable[[str, object], int]:
    def read(name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ControlRefusal(400, f"{name} must be a whole number from {low} to {high}")
        return value

    return read


def _or_none(read: Callable[[str, object], object]) -> Callable[[str, object], object]:
    return lambda name, value: None if value is None else read(name, value)


def _one_of(*choices: str) -> Callable[[str, object], str]:
    def read(name: str, value: object) -> str:
        if value not in choices:
            raise ControlRefusal(400, f"{name} must be one of {', '.join(choices)}")
        return str(value)

    return read


def _speeds(name: str, value: object) -> dict[str, float]:
    if not isinstance(value, dict):
        raise ControlRefusal(400, f"{name} must be an object of bank codes and seconds")
    read = _number(0, _A_YEAR)
    return {str(code): read(f"{name}.{code}", seconds) for code, seconds in value.items()}


def _names(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ControlRefusal(400, f"{name} must be a list of strings")
    return tuple(value)


_READERS: Final[dict[str, Callable[[str, object], object]]] = {
    "profile": _profile,
    "network": _one_of("bcrt", "bc", "tb", "tbs"),
    "speedSeconds": _or_none(_number(0, _A_YEAR)),
    "speedByBank": _speeds,
    "stuck": _flag,
    "invoiceExpirySeconds": _or_none(_whole(1, _A_YEAR)),
    "clockSkewSeconds": _whole(-_A_YEAR, _A_YEAR),
    "lockedPricePercent": _number(-90, 900),
    "feeOnTop": _flag,
    "wrongInvoice": _or_none(_one_of(*WRONG_INVOICES)),
    "wrongDeposit": _or_none(_one_of(*WRONG_DEPOSITS)),
    "configured": _flag,
    "databaseDown": _flag,
    "keyCheckDown": _flag,
    "dailyCapIdr": _or_none(_whole(0, 10**15)),
    "monthlyCapIdr": _or_none(_whole(0, 10**16)),
    "routingHop": _flag,
    "secondsBetweenPolls": _number(0, 3600),
    "quoteCacheSeconds": _or_none(_whole(0, _A_YEAR)),
    "methodsCacheSeconds": _or_none(_whole(0, _A_YEAR)),
    "statsWithout": _names,
}

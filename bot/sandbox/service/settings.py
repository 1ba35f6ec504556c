"""The service's errors, its two profiles, and the settings that `/control/settings` can change while the sandbox runs.

`documented` follows the contract to the letter. `live` is how the real service behaved where the contract is silent or
differs. Every difference is a field of `Profile`. No other module checks which profile is active. Settings aren't kept
over a restart. Orders are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

import structlog
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request

log = structlog.get_logger(__name__)


class Refusal(Exception):
    """A request that is answered with `{"error": message}`.

    Args:
        status: the HTTP status, 400 to 599.
        message: what to tell the integrator. Never holds a secret, a recipient or a name.
        retry_after: whole seconds for the `Retry-After` header, if waiting helps.
    """

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after


class ControlRefusal(Refusal):
    """A control request that is invalid (400), finds nothing (404) or isn't possible in this state (409)."""


async def _refused(_: Request, error: Exception) -> Response:
    refusal = error if isinstance(error, Refusal) else Refusal(500, "internal server error")
    headers = {} if refusal.retry_after is None else {"retry-after": str(refusal.retry_after)}
    return JSONResponse({"error": refusal.message}, status_code=refusal.status, headers=headers)


async def _not_routed(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return JSONResponse({"error": "no such path, or not with this method"}, status_code=status)


async def _broken(_: Request, error: Exception) -> Response:
    log.error("request_failed", error=type(error).__name__)
    return JSONResponse({"error": "internal server error"}, status_code=500)


HANDLERS: dict[type[Exception] | int, Callable[[Request, Exception], Awaitable[Response]]] = {
    Refusal: _refused,
    HTTPException: _not_routed,
    Exception: _broken,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One field per behaviour, as the documented service has it. Seconds are whole seconds, statuses HTTP statuses."""

    name: str = "documented"

    # orders
    # The contract names no success status. 201 keeps clients from requiring 200, which the live service uses.
    created_status: int = 201
    first_state: str = "IDLE"
    extra_states: tuple[str, ...] = ()
    shows_expiry: bool = True
    unpaid_fails_at_expiry: bool = True
    deposits_expire: bool = True
    operator_moves_deposits: bool = False
    names_lightning_channel: bool = True
    masks_recipient: bool = True
    ids_without_database: bool = False
    plain_deposit_qr: bool = False
    explains_missing_rails: bool = False

    # validation
    lenient_amounts: bool = False
    lenient_bank_numbers: bool = False
    ewallet_needs_plus: bool = True
    ewallet_format_status: int = 400
    fails_paid_orders_below_idr: int = 0

    # lists
    quote_cache_seconds: int = 30
    methods_cache_seconds: int = 0
    bca_first: bool = False
    mixed_caps: bool = False
    numeric_ewallet_codes: bool = False
    stats_keys: tuple[str, ...] = ("fetchedAt", "totalOrders", "completedOrders", "totalVolumeIdr")


DOCUMENTED: Final = Profile()
LIVE: Final = Profile(
    name="live",
    created_status=200,
    first_state="ROUTE_SHOWN",
    # The last one is nowhere documented.
    extra_states=("P2PM_ORDER_PLACED", "P2PM_ORDER_CONFIRMED", "IDR_QUEUED"),
    shows_expiry=False,
    unpaid_fails_at_expiry=False,
    deposits_expire=False,
    operator_moves_deposits=True,
    names_lightning_channel=False,
    masks_recipient=False,
    ids_without_database=True,
    plain_deposit_qr=True,
    explains_missing_rails=True,
    lenient_amounts=True,
    lenient_bank_numbers=True,
    ewallet_needs_plus=False,
    ewallet_format_status=500,
    fails_paid_orders_below_idr=20_000,
    quote_cache_seconds=120,
    methods_cache_seconds=600,
    bca_first=True,
    mixed_caps=True,
    numeric_ewallet_codes=True,
    stats_keys=("fetchedAt", "totalOrders", "totalVolumeIdr", "totalVolumeSats", "tagline", "updatedAt"),
)
PROFILES: Final = {profile.name: profile for profile in (DOCUMENTED, LIVE)}


def profile_named(name: str) -> Profile:
    """Return the profile `documented` or `live`.

    Raises:
        ControlRefusal: there is no such profile.
    """
    if name not in PROFILES:
        raise ControlRefusal(400, f"profile must be one of {', '.join(PROFILES)}")
    return PROFILES[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """The running service's settings.

    Attributes:
        speed_seconds: between two states of a paid order; None means manually.
        speed_by_bank: the same for orders to some bank codes, instead of `speed_seconds`.
        stuck: paid orders stay in their state, at any speed.
        invoice_expiry_seconds: 1 or more. None: invoices and records have no expiry of their own.
        clock_skew_seconds: how far the service's clock is ahead of true time (negative: behind).
        locked_price_percent: how much worse for the payer a locked price is than the quote shown.
        fee_on_top: whether the locked price adds the settlement fee to the quote shown, which then lacks it.
        wrong_invoice: what is wrong with new invoices: "amount", "network", "expired" or None.
        wrong_deposit: what is wrong with new deposit instructions: "contract", "chain", "decimals", "qr" or None.
        configured: whether EVM deposits are possible (settlement API, 2.3).
        database_down: the transient outage of settlement API, 4.7 and 7.
        daily_cap_idr: the payout partner's cap, or None.
        seconds_between_polls: of one order; 0 turns the limiter off.
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
    daily_cap_idr: int | None = None
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
            ControlRefusal: 400, an unknown name or profile.
        """
        unknown = sorted(set(wanted) - set(_NAMES))
        if unknown:
            raise ControlRefusal(400, f"unknown setting {', '.join(unknown)}; known: {', '.join(_NAMES)}")
        values: dict[str, Any] = {_NAMES[name]: value for name, value in wanted.items()}
        if "profile" in values:
            values["profile"] = profile_named(str(values["profile"]))
        return replace(self, **values)

    def as_json(self) -> dict[str, object]:
        """Return the answer to `GET /control/settings`."""
        return {name: getattr(self, field) for name, field in _NAMES.items()} | {"profile": self.profile.name}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


_NAMES: Final = {_camel(each.name): each.name for each in fields(Switches)}

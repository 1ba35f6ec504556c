"""The two profiles of the sandbox's service, as one table.

`documented` follows the contract to the letter. `live` is how the real service behaved where the contract is silent or
differs. Every difference is a field below. No other module checks which profile is active.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.sandbox.service.errors import ControlRefusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One field per behaviour. Seconds are whole seconds, statuses are HTTP statuses."""

    name: str

    # orders
    created_status: int
    first_state: str
    merchant_states: tuple[str, ...]
    undocumented_state: str | None
    shows_expiry: bool
    unpaid_fails_at_expiry: bool
    deposits_expire: bool
    operator_moves_deposits: bool
    names_lightning_channel: bool
    masks_recipient: bool
    ids_without_database: bool
    plain_deposit_qr: bool
    explains_missing_rails: bool

    # validation
    lenient_amounts: bool
    lenient_bank_numbers: bool
    ewallet_needs_plus: bool
    ewallet_format_status: int
    fails_paid_orders_below_idr: int

    # answers
    html_for_unknown_paths: bool
    html_for_bad_json: bool
    one_key_error: bool
    junk_limit_is_50: bool

    # lists
    quote_cache_seconds: int
    methods_cache_seconds: int
    bca_first: bool
    mixed_caps: bool
    numeric_ewallet_codes: bool
    stats_keys: tuple[str, ...]


DOCUMENTED = Profile(
    name="documented",
    # The contract names no success status. 201 keeps clients from requiring 200, which the live service uses.
    created_status=201,
    first_state="IDLE",
    merchant_states=(),
    undocumented_state=None,
    shows_expiry=True,
    unpaid_fails_at_expiry=True,
    deposits_expire=True,
    operator_moves_deposits=False,
    names_lightning_channel=True,
    masks_recipient=True,
    ids_without_database=False,
    plain_deposit_qr=False,
    explains_missing_rails=False,
    lenient_amounts=False,
    lenient_bank_numbers=False,
    ewallet_needs_plus=True,
    ewallet_format_status=400,
    fails_paid_orders_below_idr=0,
    html_for_unknown_paths=False,
    html_for_bad_json=False,
    one_key_error=True,
    junk_limit_is_50=False,
    quote_cache_seconds=30,
    methods_cache_seconds=0,
    bca_first=False,
    mixed_caps=False,
    numeric_ewallet_codes=False,
    stats_keys=("fetchedAt", "totalOrders", "completedOrders", "totalVolumeIdr"),
)

LIVE = Profile(
    name="live",
    created_status=200,
    first_state="ROUTE_SHOWN",
    merchant_states=("P2PM_ORDER_PLACED", "P2PM_ORDER_CONFIRMED"),
    undocumented_state="IDR_QUEUED",
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
    html_for_unknown_paths=True,
    html_for_bad_json=True,
    one_key_error=False,
    junk_limit_is_50=True,
    quote_cache_seconds=120,
    methods_cache_seconds=600,
    bca_first=True,
    mixed_caps=True,
    numeric_ewallet_codes=True,
    stats_keys=("fetchedAt", "totalOrders", "totalVolumeIdr", "totalVolumeSats", "tagline", "updatedAt"),
)

PROFILES = {profile.name: profile for profile in (DOCUMENTED, LIVE)}


def profile_named(name: str) -> Profile:
    """Return the profile `documented` or `live`.

    Raises:
        ControlRefusal: there is no such profile.
    """
    if name not in PROFILES:
        raise ControlRefusal(400, f"profile must be one of {', '.join(PROFILES)}")
    return PROFILES[name]

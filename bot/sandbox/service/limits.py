"""The poll limiter: one read per second of each order (settlement API, 6.3 and 8).

The document doesn't name the status of a rejection. This service answers 429 with `Retry-After`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from bot.sandbox.service.errors import Refusal

if TYPE_CHECKING:
    from datetime import datetime

# Timer jitter must not cause rejections for a client that polls exactly once per second.
_GRACE_SECONDS: Final = 0.05
_SWEEP_ABOVE: Final = 20_000


class PollLimiter:
    """Remember when each tenant last read each order. Rejected reads don't count."""

    def __init__(self) -> None:
        self._read_at: dict[tuple[str, str], datetime] = {}

    def check(self, tenant: str, order_id: str, now: datetime, seconds: float) -> None:
        """Accept a read and remember it, at most one per `seconds` (0: no limit).

        Raises:
            Refusal: 429, too soon.
        """
        if seconds <= 0:
            return
        before = self._read_at.get((tenant, order_id))
        waited = seconds if before is None else (now - before).total_seconds()
        if 0 <= waited < seconds - _GRACE_SECONDS:
            message = f"polling too fast: at most one request in {seconds:g} s for an order"
            raise Refusal(429, message, retry_after=max(1, math.ceil(seconds - waited)))
        self._read_at[tenant, order_id] = now
        if len(self._read_at) > _SWEEP_ABOVE:
            self._sweep(now, seconds)

    def _sweep(self, now: datetime, seconds: float) -> None:
        kept = {key: at for key, at in self._read_at.items() if (now - at).total_seconds() < seconds}
        self._read_at = kept

"""The request log for tests and benchmarks: counters and the latest requests, never a body."""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from bot.sandbox.service.orders.orders import iso

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

_RECENT: Final = 1000
_ORDER_PATH: Final = re.compile(r"(/v1/offramp/orders)/[^/]+")
DROPPED: Final = "dropped"


class RequestLog:
    """Count requests by method and route, and by status. Routes leave out order ids, the latest paths don't."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self.clear()

    def clear(self) -> None:
        """Reset the counters."""
        self._total = 0
        self._routes: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._recent: deque[dict[str, object]] = deque(maxlen=_RECENT)

    def add(self, method: str, path: str, status: int | str) -> None:
        """Log an answer, or that there was none (`DROPPED`)."""
        self._total += 1
        route = _ORDER_PATH.sub(r"\1/{id}", path)
        self._routes[f"{method} {route}"] += 1
        self._statuses[str(status)] += 1
        self._recent.append({"time": iso(self._clock()), "method": method, "path": path, "status": status})

    def as_json(self) -> dict[str, object]:
        """Return `total`, `routes`, `statuses`, and `recent`, newest first."""
        return {
            "total": self._total,
            "routes": dict(self._routes),
            "statuses": dict(self._statuses),
            "recent": list(reversed(self._recent)),
        }

"""The configured faults: which, for which requests and how often. `fault_layer.py` applies them."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.sandbox.service.errors import ControlRefusal

if TYPE_CHECKING:
    from collections.abc import Mapping

DELAYS: Final = ("delay", "delay_after")
DROPS: Final = ("drop_before", "drop_after")
SPOILED: Final = ("html", "truncated", "empty_list")
_STATUS: Final = re.compile(r"([45]\d\d)(_before|_after)?", re.ASCII)
_KNOWN: Final = frozenset({"fault", "method", "path", "seconds", "times", "retryAfter", "status", "error"})
_LONGEST_DELAY_SECONDS: Final = 600


@dataclass(slots=True, kw_only=True)
class Fault:
    """One fault.

    Attributes:
        fault: a name from this module's lists, or a status such as "503", "500_before" or "500_after".
        method: only requests with this method; None means any.
        path: only paths with this prefix; None means any under /v1.
        seconds: the length of a delay.
        times: how many times it will still happen; None means until it is cleared.
        retry_after: seconds for the `Retry-After` header.
        status: of an "html" answer.
        error: the text of `error`.
        used: how many times it happened.
    """

    id: int
    fault: str
    method: str | None = None
    path: str | None = None
    seconds: float = 1.0
    times: int | None = None
    retry_after: int | None = None
    status: int = 200
    error: str | None = None
    used: int = 0

    @property
    def failure_status(self) -> int | None:
        """Return the status of a failure. Return None for other faults."""
        match = _STATUS.fullmatch(self.fault)
        return None if match is None else int(match[1])

    @property
    def takes_effect(self) -> bool:
        """Return whether the request takes effect although its answer is lost or damaged."""
        return self.fault.endswith("_after") or self.fault in SPOILED

    def applies_to(self, method: str, path: str) -> bool:
        """Return whether the fault applies to this request."""
        if self.times == 0 or (self.method is not None and self.method != method):
            return False
        return self.path is None or path.startswith(self.path)

    def as_json(self) -> dict[str, object]:
        """Return the fault as listed."""
        return {
            "id": self.id,
            "fault": self.fault,
            "method": self.method,
            "path": self.path,
            "seconds": self.seconds,
            "times": self.times,
            "retryAfter": self.retry_after,
            "status": self.status,
            "error": self.error,
            "used": self.used,
        }


class FaultBook:
    """The configured faults, in the order in which they were added."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._ids = itertools.count(1)

    def add(self, wanted: Mapping[str, object]) -> Fault:
        """Add a fault from the JSON of a control request.

        Raises:
            ControlRefusal: 400, it is invalid.
        """
        unknown = sorted(set(wanted) - _KNOWN)
        if unknown:
            raise ControlRefusal(400, f"unknown field {', '.join(unknown)}; known: {', '.join(sorted(_KNOWN))}")
        fault = Fault(
            id=next(self._ids),
            fault=_name(wanted.get("fault")),
            method=_text(wanted, "method"),
            path=_text(wanted, "path"),
            seconds=_seconds(wanted.get("seconds")),
            times=_whole(wanted, "times"),
            retry_after=_whole(wanted, "retryAfter"),
            status=_whole(wanted, "status") or 200,
            error=_text(wanted, "error"),
        )
        self._faults.append(fault)
        return fault

    def take(self, method: str, path: str) -> tuple[Fault, ...]:
        """Use up the faults of this request: all matching delays, and the first other fault."""
        meant = [fault for fault in self._faults if fault.applies_to(method, path)]
        delays = [fault for fault in meant if fault.fault in DELAYS]
        others = [fault for fault in meant if fault.fault not in DELAYS]
        taken = (*delays, *others[:1])
        for fault in taken:
            fault.used += 1
            fault.times = None if fault.times is None else fault.times - 1
        return taken

    def remove(self, fault_id: object) -> None:
        """Remove one fault. Do nothing if there is none with this id."""
        self._faults = [fault for fault in self._faults if fault.id != fault_id]

    def clear(self) -> None:
        """Remove all faults."""
        self._faults.clear()

    def as_json(self) -> list[dict[str, object]]:
        """Return all faults since the last clear, used up or not."""
        return [fault.as_json() for fault in self._faults]


def _name(value: object) -> str:
    named = (*DELAYS, *DROPS, *SPOILED)
    if isinstance(value, str) and (value in named or _STATUS.fullmatch(value)):
        return value
    raise ControlRefusal(400, f"fault must be one of {', '.join(named)}, or a status such as 503 or 500_after")


def _text(wanted: Mapping[str, object], name: str) -> str | None:
    value = wanted.get(name)
    if value is not None and not isinstance(value, str):
        raise ControlRefusal(400, f"{name} must be a string or null")
    return value


def _whole(wanted: Mapping[str, object], name: str) -> int | None:
    value = wanted.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ControlRefusal(400, f"{name} must be a positive whole number or null")
    return value


def _seconds(value: object) -> float:
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LONGEST_DELAY_SECONDS:
        raise ControlRefusal(400, f"seconds must be a number from 0 to {_LONGEST_DELAY_SECONDS}")
    return value

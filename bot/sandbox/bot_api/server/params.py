"""The parameters of a call, read as Telegram reads them: tolerant of types, strict about JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.server.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sandbox.bot_api.server.forms import Upload

_TRUE = frozenset({"true", "yes", "1"})


class Params:
    """The parameters and files of one call. Forms send text, JSON bodies send values."""

    def __init__(self, values: Mapping[str, Any], files: Mapping[str, Upload] | None = None) -> None:
        self._values = values
        self.files = files or {}

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) not in (None, "")

    def text(self, name: str) -> str:
        """Return the parameter as text, "" if it is missing."""
        value = self._values.get(name)
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        return json.dumps(value) if isinstance(value, (dict, list)) else str(value)

    def integer(self, name: str, default: int = 0, low: int | None = None, high: int | None = None) -> int:
        """Return the parameter as a number, clamped to `low` and `high`, or `default` if it isn't a number."""
        try:
            number = int(self.text(name) or default)
        except ValueError:
            number = default
        if low is not None:
            number = max(low, number)
        return number if high is None else min(high, number)

    def flag(self, name: str) -> bool:
        """Return whether the parameter is true."""
        return self.text(name).strip().lower() in _TRUE

    def structure(self, name: str, complaint: str) -> Any:  # noqa: ANN401  JSON of any kind; callers check it
        """Return the parameter as JSON, None if it is missing.

        Raises:
            BadRequest: it isn't JSON. The text is `complaint`.
        """
        value = self._values.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError as error:
            raise BadRequest(complaint) from error

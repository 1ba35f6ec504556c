"""Refusals in Telegram's own words and codes.

ApiError                 what the bot is told: HTTP status, `error_code`, `description`, `parameters`
├── BadRequest           400
├── Unauthorized         401
├── Forbidden            403
├── NotFound             404
├── Conflict             409
└── TooManyRequests      429, with `retry_after` in seconds
PersonError              what a caller of the person API is told: HTTP status and `error`
"""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    """A call that Telegram refuses. `description` is complete, prefix included."""

    def __init__(self, code: int, description: str, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def as_json(self) -> dict[str, Any]:
        """The body of the answer."""
        body: dict[str, Any] = {"ok": False, "error_code": self.code, "description": self.description}
        if self.parameters:
            body["parameters"] = self.parameters
        return body


class BadRequest(ApiError):
    """The request can't be carried out."""

    def __init__(self, reason: str, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(400, f"Bad Request: {reason}", parameters)


class Unauthorized(ApiError):
    """The token is well-formed, and of no bot here."""

    def __init__(self) -> None:
        super().__init__(401, "Unauthorized")


class Forbidden(ApiError):
    """The bot may not."""

    def __init__(self, reason: str) -> None:
        super().__init__(403, f"Forbidden: {reason}")


class NotFound(ApiError):
    """No such address."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(404, f"Not Found: {reason}" if reason else "Not Found")


class Conflict(ApiError):
    """Two ways of receiving updates at once."""

    def __init__(self, reason: str) -> None:
        super().__init__(409, f"Conflict: {reason}")


class TooManyRequests(ApiError):
    """Too fast; the same call may succeed after `retry_after` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(429, f"Too Many Requests: retry after {retry_after}", {"retry_after": max(1, retry_after)})


class PersonError(Exception):
    """A request to the person API that makes no sense."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.error = error

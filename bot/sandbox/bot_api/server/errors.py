"""Errors with Telegram's texts and codes.

ApiError                 an error answer to the bot: HTTP status, `error_code`, `description`, `parameters`
├── BadRequest           400
├── Unauthorized         401
├── Forbidden            403
├── NotFound             404
├── Conflict             409
└── TooManyRequests      429, with `retry_after` in seconds
PersonError              an error answer of the person API: HTTP status and `error`
"""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    """A call that Telegram rejects. `description` is complete, with its prefix."""

    def __init__(self, code: int, description: str, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def as_json(self) -> dict[str, Any]:
        """Return the body of the answer."""
        body: dict[str, Any] = {"ok": False, "error_code": self.code, "description": self.description}
        if self.parameters:
            body["parameters"] = self.parameters
        return body


class BadRequest(ApiError):
    """The request is invalid."""

    def __init__(self, reason: str, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(400, f"Bad Request: {reason}", parameters)


class Unauthorized(ApiError):
    """The token is well-formed but not this bot's."""

    def __init__(self) -> None:
        super().__init__(401, "Unauthorized")


class Forbidden(ApiError):
    """The bot isn't allowed to do this."""

    def __init__(self, reason: str) -> None:
        super().__init__(403, f"Forbidden: {reason}")


class NotFound(ApiError):
    """The address doesn't exist."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(404, f"Not Found: {reason}" if reason else "Not Found")


class Conflict(ApiError):
    """Two ways of receiving updates at the same time."""

    def __init__(self, reason: str) -> None:
        super().__init__(409, f"Conflict: {reason}")


class TooManyRequests(ApiError):
    """Too many calls. The same call can succeed after `retry_after` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(429, f"Too Many Requests: retry after {retry_after}", {"retry_after": max(1, retry_after)})


class PersonError(Exception):
    """An invalid request to the person API."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.error = error

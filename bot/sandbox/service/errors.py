"""Errors of the service.

SandboxError
`- Refusal               sent as an answer: a status and the text of `error` (settlement API, 7)
   `- ControlRefusal     the same for the sandbox's control endpoints, which no integrator ever sees
"""

from __future__ import annotations


class SandboxError(Exception):
    """Base class of all errors of this package."""


class Refusal(SandboxError):
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

"""A call of the Bot API: JSON, urlencoded or multipart, read as Telegram reads it, and the errors that answer it.

It is tolerant of types and strict about JSON. Parameters of the body win over those of the query string.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

if TYPE_CHECKING:
    from collections.abc import Mapping


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
        return body | ({"parameters": self.parameters} if self.parameters else {})


class BadRequest(ApiError):
    """The request is invalid."""

    def __init__(self, reason: str, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(400, f"Bad Request: {reason}", parameters)


class Forbidden(ApiError):
    """The bot isn't allowed to do this."""

    def __init__(self, reason: str) -> None:
        super().__init__(403, f"Forbidden: {reason}")


class NotFound(ApiError):
    """The address doesn't exist."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(404, f"Not Found: {reason}" if reason else "Not Found")


class TooManyRequests(ApiError):
    """Too many calls. The same call can succeed after `retry_after` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(429, f"Too Many Requests: retry after {retry_after}", {"retry_after": max(1, retry_after)})


class PersonError(Exception):
    """An invalid request to the person API: HTTP status and `error`."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.error = error


_TRUE = frozenset({"true", "yes", "1"})
_NAME = re.compile(r'[;\s]name="([^"]*)"', re.IGNORECASE)
_FILE_NAME = re.compile(r"""[;\s]filename(?:="([^"]*)"|\*=utf-8''([^;\s]+))""", re.IGNORECASE)
_MIME = re.compile(r"^content-type:\s*(\S+)", re.IGNORECASE | re.MULTILINE)
_BOUNDARY = re.compile(r'boundary="?([^";,]+)"?', re.IGNORECASE)


@dataclass(frozen=True)
class Upload:
    """A file that came with the call."""

    name: str
    mime: str
    content: bytes


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
        if value is None or isinstance(value, str):
            return value or ""
        return json.dumps(value)

    def integer(self, name: str, default: int = 0) -> int:
        """Return the parameter as a number, or `default` if it isn't a number."""
        try:
            return int(self.text(name) or default)
        except ValueError:
            return default

    def flag(self, name: str) -> bool:
        """Return whether the parameter is true."""
        return self.text(name).strip().lower() in _TRUE

    def structure(self, name: str) -> Any:  # noqa: ANN401  JSON of any kind; callers check it
        """Return the parameter as JSON, None if it is missing.

        Raises:
            BadRequest: it isn't JSON.
        """
        value = self._values.get(name)
        if not isinstance(value, str):
            return value
        return _read_json(value, name) if value else None


def read_call(query: bytes, content_type: str, body: bytes) -> Params:
    """Return the parameters of a call.

    Raises:
        BadRequest: the body doesn't match its content type.
    """
    values: dict[str, Any] = dict(parse_qsl(query.decode(), keep_blank_values=True))
    files: dict[str, Upload] = {}
    kind = content_type.partition(";")[0].strip().lower()
    if body and kind == "application/json":
        given = _read_json(body, "request")
        if not isinstance(given, dict):
            raise BadRequest("can't parse request JSON object")
        values |= given
    elif kind == "application/x-www-form-urlencoded":
        values |= parse_qsl(body.decode(errors="replace"), keep_blank_values=True)
    elif kind == "multipart/form-data":
        fields, files = _read_multipart(content_type, body)
        values |= fields
    return Params(values, files)


def _read_json(text: str | bytes, name: str) -> Any:  # noqa: ANN401  JSON of any kind
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadRequest(f"can't parse {name.replace('_', ' ')} JSON object") from error


def _read_multipart(content_type: str, body: bytes) -> tuple[dict[str, str], dict[str, Upload]]:
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise BadRequest("boundary not found")
    fields: dict[str, str] = {}
    files: dict[str, Upload] = {}
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode())[1:]:
        raw, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        head = raw.decode(errors="replace")
        name, file, mime = _NAME.search(head), _FILE_NAME.search(head), _MIME.search(head)
        if name is not None and file is not None:
            files[name[1]] = Upload(unquote(file[1] or file[2] or ""), mime[1] if mime else "", content)
        elif name is not None:
            fields[name[1]] = content.decode(errors="replace")
    return fields, files

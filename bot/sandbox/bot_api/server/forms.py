"""Parsing of a call: query string, JSON, urlencoded or multipart, as the Bot API accepts."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

from bot.sandbox.bot_api.server.errors import BadRequest

_NAME = re.compile(r'[;\s]name="((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_FILE_NAME = re.compile(r'[;\s]filename="((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_FILE_NAME_EXTENDED = re.compile(r"[;\s]filename\*=utf-8''([^;\s]+)", re.IGNORECASE)
_BOUNDARY = re.compile(r'boundary="?([^";,]+)"?', re.IGNORECASE)


@dataclass(frozen=True)
class Upload:
    """A file that came with the call."""

    name: str
    mime: str
    content: bytes


def read_call(query: bytes, content_type: str, body: bytes) -> tuple[dict[str, Any], dict[str, Upload]]:
    """Return parameters and files of a call. Parameters of the body win over those of the query string.

    Raises:
        BadRequest: the body doesn't match its content type.
    """
    values: dict[str, Any] = dict(parse_qsl(query.decode(), keep_blank_values=True))
    files: dict[str, Upload] = {}
    kind = content_type.partition(";")[0].strip().lower()
    if not body:
        return values, files
    if kind == "application/json":
        values.update(_read_json(body))
    elif kind == "application/x-www-form-urlencoded":
        values.update(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
    elif kind == "multipart/form-data":
        fields, files = _read_multipart(content_type, body)
        values.update(fields)
    return values, files


def _read_json(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise BadRequest("can't parse request JSON object") from error
    if not isinstance(value, dict):
        raise BadRequest("can't parse request JSON object")
    return value


def _read_multipart(content_type: str, body: bytes) -> tuple[dict[str, str], dict[str, Upload]]:
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise BadRequest("boundary not found")
    fields: dict[str, str] = {}
    files: dict[str, Upload] = {}
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode())[1:]:
        if part.startswith(b"--"):
            break
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        _take_part(head.decode(errors="replace"), content, fields, files)
    return fields, files


def _take_part(head: str, content: bytes, fields: dict[str, str], files: dict[str, Upload]) -> None:
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head.split("\r\n"))
    }
    disposition = headers.get("content-disposition", "")
    name = _NAME.search(disposition)
    if name is None:
        return
    file_name = _file_name(disposition)
    if file_name is None:
        fields[name[1]] = content.decode(errors="replace")
    else:
        files[name[1]] = Upload(file_name, headers.get("content-type", ""), content)


def _file_name(disposition: str) -> str | None:
    if extended := _FILE_NAME_EXTENDED.search(disposition):
        return unquote(extended[1])
    if plain := _FILE_NAME.search(disposition):
        return unquote(plain[1])
    return None

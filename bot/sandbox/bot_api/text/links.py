"""The addresses that Telegram accepts in links and buttons, and how it stores them."""

from __future__ import annotations

import re

_TG = re.compile(r"tg:(?://)?(?P<host>[^/?#]*)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_HTTP = re.compile(r"(?:(?P<scheme>[^:/?#@\[\]]*)://)?(?P<authority>[^/?#]*)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_USER = re.compile(r"tg:(?://)?user\?id=(\d+)", re.IGNORECASE)
_MAX_PORT = 65_535


class LinkError(ValueError):
    """An address that Telegram rejects. The message is Telegram's."""


def mentioned_user(link: str) -> int | None:
    """Return the user id of a link to a user (`tg://user?id=…`)."""
    found = _USER.fullmatch(link)
    return int(found[1]) if found else None


def checked_link(link: str) -> str:
    """Return the address as Telegram stores it: with a scheme and at least `/` after the host.

    Raises:
        LinkError: the scheme isn't http(s) or tg, or the address is malformed.
    """
    if tg := _TG.fullmatch(link):
        if not re.fullmatch(r"[\w-]+", tg["host"], re.ASCII):
            raise LinkError("Unallowed characters in URL host" if tg["host"] else "URL host is empty")
        return f"tg://{tg['host']}{tg['rest']}"
    parts = _HTTP.fullmatch(link)
    if parts is None:
        raise LinkError("Wrong HTTP URL")
    scheme = (parts["scheme"] or "http").lower()
    if scheme not in {"http", "https"}:
        raise LinkError("Unsupported URL protocol")
    authority = _checked_authority(parts["authority"], explicit=bool(parts["scheme"]))
    rest = parts["rest"]
    return f"{scheme}://{authority}{rest if rest.startswith('/') else '/' + rest}"


def _checked_authority(authority: str, *, explicit: bool) -> str:
    user, at, place = authority.rpartition("@")
    host, colon, port = place.partition(":") if not place.startswith("[") else (place, "", "")
    if ":" in user and not explicit:
        raise LinkError("Wrong HTTP URL")
    if colon and not (port.isascii() and port.isdigit() and 0 < int(port) <= _MAX_PORT):
        raise LinkError("Wrong port number specified in the URL")
    if not host:
        raise LinkError("URL host is empty")
    if "." not in host and not host.startswith("["):
        raise LinkError("Wrong HTTP URL")
    if re.search(r"[\s\"'<>\\^`{|}]", host):
        raise LinkError("Disallowed character in URL host")
    return f"{user}{at}{host.lower()}{colon}{port}"

"""Truncation of texts that are too long for Telegram, without breaking their markup.

Screens fit. Only text from outside, such as a bank's long name or an error, could make one too long. A truncated
message about money is better than a rejected one.
"""

import re

import structlog

log = structlog.get_logger(__name__)

TEXT_UNITS = 4096
CAPTION_UNITS = 1024
ELLIPSIS = "…"

_TAG_OR_ENTITY = r"<(?P<close>/?)(?P<name>[a-zA-Z-]+)[^>]*>|&(?:#\d+|#x[0-9a-fA-F]+|[a-z]+);"
_MARKUP = re.compile(_TAG_OR_ENTITY)
_PIECE = re.compile(f"{_TAG_OR_ENTITY}|.", re.DOTALL)
_OF_ONE_UNIT = "."
"""Stands for an entity, which is one unit in the message."""


def truncate_html(html: str, limit: int = TEXT_UNITS) -> str:
    """Return `html`, cut to `limit` visible UTF-16 units, as Telegram counts. Tags that are open there are closed."""
    if _count_units(html) <= limit or count_visible_units(html) <= limit:
        return html
    kept: list[str] = []
    open_tags: list[str] = []
    remaining = limit - _count_units(ELLIPSIS)
    for piece in _PIECE.finditer(html):
        remaining -= count_visible_units(piece[0])
        if remaining < 0:
            break
        if piece["name"]:
            _update_open_tags(open_tags, piece["name"], closing=bool(piece["close"]))
        kept.append(piece[0])
    log.error("message_truncated", limit=limit)
    return "".join([*kept, ELLIPSIS, *(f"</{name}>" for name in reversed(open_tags))])


def _update_open_tags(open_tags: list[str], name: str, *, closing: bool) -> None:
    if not closing:
        open_tags.append(name)
    elif open_tags:
        open_tags.pop()


def count_visible_units(html: str) -> int:
    """Return the length of a text in HTML as Telegram counts it: UTF-16 units, without the tags."""
    return _count_units(_MARKUP.sub(lambda found: "" if found["name"] else _OF_ONE_UNIT, html))


def _count_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2

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

_PIECE = re.compile(r"<(?P<close>/?)(?P<name>[a-zA-Z-]+)[^>]*>|&(?:#\d+|#x[0-9a-fA-F]+|[a-z]+);|.", re.DOTALL)


def truncate_html(html: str, limit: int = TEXT_UNITS) -> str:
    """Return `html`, cut to `limit` visible UTF-16 units, as Telegram counts. Tags that are open there are closed."""
    if _count_units(html) <= limit:
        return html
    kept: list[str] = []
    open_tags: list[str] = []
    remaining = limit - _count_units(ELLIPSIS)
    is_too_long = False
    for piece in _PIECE.finditer(html):
        if piece["name"]:
            _update_open_tags(open_tags, piece["name"], closing=bool(piece["close"]))
        elif (remaining := remaining - _count_visible(piece[0])) < 0:
            is_too_long = True
            break
        kept.append(piece[0])
    if not is_too_long or count_visible_units(html) <= limit:
        return html
    log.error("message_truncated", limit=limit)
    return "".join([*kept, ELLIPSIS, *(f"</{name}>" for name in reversed(open_tags))])


def _update_open_tags(open_tags: list[str], name: str, *, closing: bool) -> None:
    if not closing:
        open_tags.append(name)
    elif open_tags:
        open_tags.pop()


def count_visible_units(html: str) -> int:
    """Return the length of a text in HTML as Telegram counts it: UTF-16 units, without the tags."""
    return sum(_count_visible(piece[0]) for piece in _PIECE.finditer(html) if not piece["name"])


def _count_visible(piece: str) -> int:
    return 1 if len(piece) > 1 else _count_units(piece)


def _count_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2

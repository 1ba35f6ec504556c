"""Cuts a text that is too long for Telegram, without breaking its markup.

Screens are written to fit; only text from outside (a bank's long name, an error) could ever make one too long. A
message about money that is cut is better than one that Telegram refuses.
"""

import re

import structlog

log = structlog.get_logger(__name__)

TEXT_UNITS = 4096
CAPTION_UNITS = 1024
ELLIPSIS = "…"

_PIECE = re.compile(r"<(?P<close>/?)(?P<name>[a-zA-Z-]+)[^>]*>|&(?:#\d+|#x[0-9a-fA-F]+|[a-z]+);|.", re.DOTALL)


def truncate_html(html: str, limit: int = TEXT_UNITS) -> str:
    """`html`, cut to at most `limit` visible UTF-16 units (as Telegram counts); tags open at the cut are closed."""
    if _units(html) <= limit:
        return html
    kept: list[str] = []
    open_tags: list[str] = []
    room = limit - _units(ELLIPSIS)
    overflowing = False
    for piece in _PIECE.finditer(html):
        if piece["name"]:
            _follow(open_tags, piece["name"], closing=bool(piece["close"]))
        elif (room := room - _visible(piece[0])) < 0:
            overflowing = True
            break
        kept.append(piece[0])
    if not overflowing or count_visible_units(html) <= limit:
        return html
    log.error("message_truncated", limit=limit)
    return "".join([*kept, ELLIPSIS, *(f"</{name}>" for name in reversed(open_tags))])


def _follow(open_tags: list[str], name: str, *, closing: bool) -> None:
    if not closing:
        open_tags.append(name)
    elif open_tags:
        open_tags.pop()


def count_visible_units(html: str) -> int:
    """How long a text in HTML is as Telegram counts: UTF-16 units, without the tags."""
    return sum(_visible(piece[0]) for piece in _PIECE.finditer(html) if not piece["name"])


def _visible(piece: str) -> int:
    return 1 if len(piece) > 1 else _units(piece)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2

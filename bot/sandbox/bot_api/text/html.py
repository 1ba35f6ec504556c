"""Telegram's HTML: tags become entities. Telegram's errors are repeated in its words.

It isn't a browser's HTML. There are few tags, and they must be closed in order. Only four named character references
exist. A stray `<` is an error and a stray `&` is text. Offsets in errors are bytes, those of entities are UTF-16 units.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.text import utf16
from bot.sandbox.bot_api.text.html_tags import TAGS, EntityList, MarkupError, OpenTag

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.sandbox.bot_api.model import JsonObject

_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_REFERENCE = re.compile(r"&(?:#x(?P<hex>[0-9a-fA-F]+)|#(?P<dec>[0-9]+)|(?P<name>[a-zA-Z]+));?")
_PLAIN = re.compile(r"[^<&]+")
_START = re.compile(r"<([^\s>]*)")
_END = re.compile(r"</([^\s>]*)\s*")
_ATTRIBUTE = re.compile(r"([^\s=>/\"']*)\s*(=?)\s*")
_TOKEN = re.compile(r"[A-Za-z0-9.\-]*")
_LAST_CODE_POINT = 0x10FFFF


def parse(text: str, find_user: Callable[[int], JsonObject | None]) -> tuple[str, list[JsonObject]]:
    """Return plain text and entities of an HTML text.

    Raises:
        MarkupError: Telegram rejects the text.
    """
    return _Reader(text, find_user).read()


class _Reader:
    def __init__(self, text: str, find_user: Callable[[int], JsonObject | None]) -> None:
        self._text = text
        self._at = 0
        self._out: list[str] = []
        self._length = 0
        self._open: list[OpenTag] = []
        self._entities = EntityList(find_user)

    def read(self) -> tuple[str, list[JsonObject]]:
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == "<":
                self._tag()
            elif char == "&":
                self._emit(self._reference())
            else:
                self._emit(self._match(_PLAIN)[0])
        if self._open:
            raise MarkupError(f'Can\'t find end tag corresponding to start tag "{self._open[-1].name}"')
        return "".join(self._out), self._entities.finished()

    def _emit(self, piece: str) -> None:
        self._out.append(piece)
        self._length += utf16.length(piece)

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise MarkupError(f"Unclosed start tag at byte offset {self._byte(self._at)}")
        self._at = found.end()
        return found

    def _byte(self, index: int) -> int:
        return len(self._text[:index].encode())

    def _reference(self) -> str:
        found = _REFERENCE.match(self._text, self._at)
        char = _character(found) if found else None
        if found is None or char is None:
            self._at += 1
            return "&"
        self._at = found.end()
        return char

    def _tag(self) -> None:
        if self._text.startswith("</", self._at):
            self._end_tag()
        else:
            self._start_tag()

    def _start_tag(self) -> None:
        begin = self._at
        name = self._match(_START)[1].lower()
        if self._at >= len(self._text):
            raise MarkupError(f"Unclosed start tag at byte offset {self._byte(begin)}")
        if name not in TAGS:
            raise MarkupError(f'Unsupported start tag "{name}" at byte offset {self._byte(begin)}')
        tag = OpenTag(name, self._length, len(self._out))
        while self._more_attributes(name, begin):
            self._attribute(tag, begin)
        if name == "span" and tag.argument != "spoiler":
            raise MarkupError(f'Tag "span" must have class "tg-spoiler" at byte offset {self._byte(begin)}')
        self._open.append(tag)

    def _more_attributes(self, name: str, begin: int) -> bool:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        if self._at >= len(self._text):
            raise MarkupError(f'Unclosed start tag "{name}" at byte offset {self._byte(begin)}')
        if self._text[self._at] == ">":
            self._at += 1
            return False
        return True

    def _attribute(self, tag: OpenTag, begin: int) -> None:
        attribute, equals = self._match(_ATTRIBUTE).groups()
        if not attribute:
            raise MarkupError(f'Empty attribute name in the tag "{tag.name}" at byte offset {self._byte(begin)}')
        value = self._value(tag.name, begin) if equals else ""
        tag.take(attribute, value)

    def _value(self, name: str, begin: int) -> str:
        if self._at >= len(self._text):
            raise MarkupError(f'Unclosed start tag "{name}" at byte offset {self._byte(begin)}')
        quote = self._text[self._at]
        if quote not in "\"'":
            value = self._at
            token = self._match(_TOKEN)[0].lower()
            if self._at < len(self._text) and not (self._text[self._at].isspace() or self._text[self._at] == ">"):
                raise MarkupError(f"Unexpected end of name token at byte offset {self._byte(value)}")
            return token
        end = self._text.find(quote, self._at + 1)
        if end < 0 or end + 1 >= len(self._text):
            raise MarkupError(f"Unclosed start tag at byte offset {self._byte(begin)}")
        literal = self._text[self._at + 1 : end]
        self._at = end + 1
        return _REFERENCE.sub(lambda found: _character(found) or found[0], literal)

    def _end_tag(self) -> None:
        begin = self._at
        if not self._open:
            raise MarkupError(f"Unexpected end tag at byte offset {self._byte(begin)}")
        name = self._match(_END)[1].lower()
        if self._text[self._at : self._at + 1] != ">":
            raise MarkupError(f"Unclosed end tag at byte offset {self._byte(begin)}")
        self._at += 1
        tag = self._open[-1]
        if name and name != tag.name:
            at = self._byte(begin)
            raise MarkupError(f'Unmatched end tag at byte offset {at}, expected "</{tag.name}>", found "</{name}>"')
        if self._length > tag.offset:
            self._entities.close(tag, self._length, "".join(self._out[tag.out_index :]))
        self._open.pop()


def _character(found: re.Match[str]) -> str | None:
    if found["name"]:
        return _NAMED.get(found["name"])
    code = int(found["hex"], 16) if found["hex"] else int(found["dec"])
    surrogate = 0xD800 <= code <= 0xDFFF  # noqa: PLR2004  the range Unicode reserves
    return None if not code or code > _LAST_CODE_POINT or surrogate else chr(code)

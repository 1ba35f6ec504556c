"""The tags of Telegram's HTML: which entity each becomes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.text.links import LinkError, checked_link, mentioned_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.sandbox.bot_api.model import JsonObject

_SIMPLE = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
}
TAGS = frozenset({*_SIMPLE, "a", "code", "pre", "blockquote", "tg-emoji", "tg-time"})
_TIME_FORMAT = re.compile(r"[rR]|[tTdDwW]*")


class MarkupError(ValueError):
    """The text can't be parsed. The message is Telegram's."""


@dataclass
class OpenTag:
    """An open tag. `offset` in UTF-16 units of the plain text."""

    name: str
    offset: int
    out_index: int
    argument: str = ""
    unix_time: str = ""

    def take(self, attribute: str, value: str) -> None:
        """Store an attribute, if the tag uses it."""
        match self.name, attribute:
            case ("a", "href") | ("tg-emoji", "emoji-id") | ("tg-time", "format"):
                self.argument = value
            case "tg-time", "unix":
                self.unix_time = value
            case "code", "class" if value.startswith("language-"):
                self.argument = value.removeprefix("language-")
            case "span", "class" if value.startswith("tg-"):
                self.argument = value.removeprefix("tg-")
            case "blockquote", "expandable":
                self.argument = "1"


class EntityList:
    """Entities in the order in which their tags were closed."""

    def __init__(self, find_user: Callable[[int], JsonObject | None]) -> None:
        self._find_user = find_user
        self._entities: list[JsonObject] = []

    def close(self, tag: OpenTag, end: int, inner_text: str) -> None:
        """Add the entity of a tag for the text up to `end`.

        Raises:
            MarkupError: the tag is invalid.
        """
        details = self._details(tag, end, inner_text)
        if details is not None:
            self._entities.append({"offset": tag.offset, "length": end - tag.offset, **details})

    def finished(self) -> list[JsonObject]:
        """Return all entities. Only blocks of code have a language."""
        for entity in self._entities:
            if entity["type"] == "code":
                entity.pop("language", None)
        return self._entities

    def _details(self, tag: OpenTag, end: int, inner_text: str) -> JsonObject | None:
        if tag.name in _SIMPLE:
            return {"type": _SIMPLE[tag.name]}
        match tag.name:
            case "blockquote":
                return {"type": "expandable_blockquote" if tag.argument else "blockquote"}
            case "a":
                return self._link(tag.argument or inner_text)
            case "tg-emoji":
                return _custom_emoji(tag.argument)
            case "tg-time":
                return _date_time(tag)
            case _:
                return self._code(tag, end)

    def _link(self, url: str) -> JsonObject | None:
        user_id = mentioned_user(url)
        if user_id is not None:
            user = self._find_user(user_id)
            return None if user is None else {"type": "text_mention", "user": user}
        try:
            return {"type": "text_link", "url": checked_link(url)}
        except LinkError:
            return None

    def _code(self, tag: OpenTag, end: int) -> JsonObject | None:
        """Return the code entity. `<pre><code class="language-…">`, in either order, is one block with a language."""
        inner = self._entities[-1] if self._entities else {}
        same = (inner.get("offset"), inner.get("length")) == (tag.offset, end - tag.offset)
        if same and tag.name == "pre" and inner["type"] == "code" and "language" in inner:
            inner["type"] = "pre"
            return None
        if same and tag.name == "code" and inner["type"] == "pre" and tag.argument:
            inner["language"] = tag.argument
            return None
        return {"type": tag.name, **({"language": tag.argument} if tag.argument else {})}


def _custom_emoji(identifier: str) -> JsonObject:
    if not identifier.isdigit() or not int(identifier):
        raise MarkupError("Invalid custom emoji identifier specified")
    return {"type": "custom_emoji", "custom_emoji_id": identifier}


def _date_time(tag: OpenTag) -> JsonObject | None:
    if not _TIME_FORMAT.fullmatch(tag.argument):
        raise MarkupError("Invalid date format used")
    if not tag.unix_time.isdigit() or not int(tag.unix_time):
        return None
    entity: JsonObject = {"type": "date_time", "unix_time": int(tag.unix_time)}
    return {**entity, "date_time_format": tag.argument} if tag.argument else entity

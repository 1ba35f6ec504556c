"""Texts as Telegram reads them: its HTML and what it detects become entities. Offsets count UTF-16 units.

It isn't a browser's HTML. There are few tags, and they must be closed in order. Only four named character references
exist. A stray `<` is an error and a stray `&` is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.sandbox.bot_api.calls import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bot.sandbox.bot_api.model import JsonObject

_SIMPLE = {
    **dict.fromkeys(("b", "strong"), "bold"),
    **dict.fromkeys(("i", "em"), "italic"),
    **dict.fromkeys(("u", "ins"), "underline"),
    **dict.fromkeys(("s", "strike", "del"), "strikethrough"),
    **dict.fromkeys(("tg-spoiler", "span"), "spoiler"),
}
_TAGS = frozenset({*_SIMPLE, "a", "code", "pre", "blockquote", "tg-emoji", "tg-time"})
_TIME_FORMAT = re.compile(r"[rR]|[tTdDwW]*")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_REFERENCE = re.compile(r"&(?:#x(?P<hex>[0-9a-fA-F]+)|#(?P<dec>[0-9]+)|(?P<name>[a-zA-Z]+));?")
_MARKUP = re.compile(r"<(?P<end>/?)(?P<name>[^\s>]*)(?P<attributes>(?:[^>\"']|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = re.compile(
    r"""\s*(?P<name>[^\s=>/"']+)(?:\s*=\s*(?:"(?P<a>[^"]*)"|'(?P<b>[^']*)'|(?P<c>[A-Za-z0-9.\-]*)))?"""
)
_LAST_CODE_POINT = 0x10FFFF

_TG = re.compile(r"tg:(?://)?(?P<host>[\w-]+)(?P<rest>[/?#].*)?", re.IGNORECASE | re.DOTALL | re.ASCII)
_HTTP = re.compile(
    r"(?:(?P<scheme>[^:/?#@\[\]]*)://)?(?P<host>[^/?#:]*)(?P<port>:[^/?#]*)?(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_USER = re.compile(r"tg:(?://)?user\?id=(\d+)", re.IGNORECASE)
_HOST = re.compile(r"[^\s\"'<>\\^`{|}]*\.[^\s\"'<>\\^`{|}]*")
_MAX_PORT = 65_535


class MarkupError(ValueError):
    """The text can't be parsed, or an address isn't one that Telegram takes."""


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def mentioned_user(link: str) -> int | None:
    """Return the user id of a link to a user (`tg://user?id=…`)."""
    found = _USER.fullmatch(link)
    return int(found[1]) if found else None


def checked_link(link: str) -> str:
    """Return the address as Telegram stores it: with a scheme and at least `/` after the host.

    Raises:
        MarkupError: the scheme isn't http(s) or tg, or the address is malformed.
    """
    if tg := _TG.fullmatch(link):
        return f"tg://{tg['host']}{tg['rest'] or ''}"
    parts = _HTTP.fullmatch(link)
    scheme = ((parts and parts["scheme"]) or "http").lower()
    if scheme not in {"http", "https"}:
        raise MarkupError("Unsupported URL protocol")
    port = parts["port"] or "" if parts else ""
    if port and not (port[1:].isascii() and port[1:].isdigit() and 0 < int(port[1:]) <= _MAX_PORT):
        raise MarkupError("Wrong port number specified in the URL")
    if parts is None or not _HOST.fullmatch(parts["host"]) or "@" in parts["host"]:
        raise MarkupError("Wrong HTTP URL")
    rest = parts["rest"]
    return f"{scheme}://{parts['host'].lower()}{port}{rest if rest.startswith('/') else '/' + rest}"


def parse(text: str, find_user: Callable[[int], JsonObject | None]) -> tuple[str, list[JsonObject]]:
    """Return plain text and entities of an HTML text.

    Raises:
        MarkupError: Telegram rejects the text.
    """
    reader = _Reader(find_user)
    at = 0
    while (begin := text.find("<", at)) >= 0:
        reader.write(text[at:begin])
        found = _MARKUP.match(text, begin)
        if found is None:
            raise MarkupError(f"Unclosed start tag at byte offset {len(text[:begin].encode())}")
        place = f"at byte offset {len(text[:begin].encode())}"
        if found["end"]:
            reader.close(found["name"].lower(), place)
        else:
            reader.open(found["name"].lower(), found["attributes"], place)
        at = found.end()
    reader.write(text[at:])
    return reader.finish()


@dataclass
class _Tag:
    """An open tag. `offset` in UTF-16 units of the plain text."""

    name: str
    offset: int
    attributes: dict[str, str]


@dataclass
class _Reader:
    find_user: Callable[[int], JsonObject | None]
    text: str = ""
    length: int = 0
    tags: list[_Tag] = field(default_factory=list)
    entities: list[JsonObject] = field(default_factory=list)

    def write(self, markup: str) -> None:
        piece = _REFERENCE.sub(_character, markup)
        self.text += piece
        self.length += utf16_length(piece)

    def open(self, name: str, attributes: str, place: str) -> None:
        if name not in _TAGS:
            raise MarkupError(f'Unsupported start tag "{name}" {place}')
        given = {
            match["name"].lower(): _REFERENCE.sub(_character, match["a"] or match["b"] or match["c"] or "")
            for match in _ATTRIBUTE.finditer(attributes)
        }
        if _ATTRIBUTE.sub("", attributes).strip():
            raise MarkupError(f'Empty attribute name in the tag "{name}" {place}')
        if name == "span" and given.get("class") != "tg-spoiler":
            raise MarkupError(f'Tag "span" must have class "tg-spoiler" {place}')
        self.tags.append(_Tag(name, self.length, given))

    def close(self, name: str, place: str) -> None:
        if not self.tags:
            raise MarkupError(f"Unexpected end tag {place}")
        tag = self.tags.pop()
        if name and name != tag.name:
            raise MarkupError(f'Unmatched end tag {place}, expected "</{tag.name}>", found "</{name}>"')
        if self.length > tag.offset and (details := self._describe(tag)):
            self.entities.append({"offset": tag.offset, "length": self.length - tag.offset, **details})

    def finish(self) -> tuple[str, list[JsonObject]]:
        if self.tags:
            raise MarkupError(f'Can\'t find end tag corresponding to start tag "{self.tags[-1].name}"')
        for entity in self.entities:
            if entity["type"] == "code":
                entity.pop("language", None)
        return self.text, self.entities

    def _describe(self, tag: _Tag) -> JsonObject | None:
        given = tag.attributes
        match tag.name:
            case "blockquote":
                return {"type": "expandable_blockquote" if "expandable" in given else "blockquote"}
            case "a":
                return self._describe_link(given.get("href") or self._inner(tag))
            case "tg-emoji":
                return {"type": "custom_emoji", "custom_emoji_id": given.get("emoji-id", "")}
            case "tg-time":
                return _describe_time(given.get("unix", ""), given.get("format", ""))
            case "code" | "pre":
                return self._describe_code(tag)
            case _:
                return {"type": _SIMPLE[tag.name]}

    def _inner(self, tag: _Tag) -> str:
        return self.text.encode("utf-16-le")[2 * tag.offset :].decode("utf-16-le")

    def _describe_link(self, url: str) -> JsonObject | None:
        user_id = mentioned_user(url)
        if user_id is not None:
            user = self.find_user(user_id)
            return None if user is None else {"type": "text_mention", "user": user}
        try:
            return {"type": "text_link", "url": checked_link(url)}
        except MarkupError:
            return None

    def _describe_code(self, tag: _Tag) -> JsonObject | None:
        """Return the entity. `<pre><code class="language-…">` is one block with a language. Code alone has none."""
        inner = self.entities[-1] if self.entities else {}
        same = (inner.get("type"), inner.get("offset")) == ("code", tag.offset)
        if tag.name == "pre" and same and inner["length"] == self.length - tag.offset:
            inner["type"] = "pre"
            return None
        language = tag.attributes.get("class", "").removeprefix("language-")
        return {"type": tag.name, **({"language": language} if language else {})}


def _describe_time(unix: str, shape: str) -> JsonObject | None:
    if not _TIME_FORMAT.fullmatch(shape):
        raise MarkupError("Invalid date format used")
    if not unix.isdigit():
        return None
    return {"type": "date_time", "unix_time": int(unix), **({"date_time_format": shape} if shape else {})}


def _character(found: re.Match[str]) -> str:
    """Return what a character reference means, or the reference itself."""
    if found["name"]:
        return _NAMED.get(found["name"], found[0])
    code = int(found["hex"], 16) if found["hex"] else int(found["dec"])
    surrogate = 0xD800 <= code <= 0xDFFF  # noqa: PLR2004  the range Unicode reserves
    return found[0] if not code or code > _LAST_CODE_POINT or surrogate else chr(code)


MAX_RAW_BYTES = 32_768
_OPAQUE = frozenset({"code", "pre"})
_NO_DETECTION_IN = frozenset({"code", "pre", "text_link", "text_mention"})
_OUTER_FIRST = ("blockquote", "expandable_blockquote", "pre", "code", "text_link", "text_mention")
_SPACES = " \t\n\r\v\f\u00a0\u200b\u2060"
_TOP_LEVEL = "com|org|net|io|id|me|app|dev|info|xyz|co|gov|edu|ai|gg|uk|sg|my|link|site|money|finance"
_EMAIL = r"(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.)+[a-z]{2,24}(?![\w-])"
_URL = (
    r"(?:https?|tg)://[^\s<>\"']+"
    rf"|(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]{{0,61}}[a-z0-9])?\.)+(?:{_TOP_LEVEL})(?![\w-])(?:[/?#][^\s<>\"']*)?"
)
_PATTERNS = (
    ("email", re.compile(_EMAIL, re.IGNORECASE)),
    ("url", re.compile(_URL, re.IGNORECASE)),
    ("bot_command", re.compile(r"(?<![\w/@#<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/])", re.ASCII)),
    ("mention", re.compile(r"(?<![\w/@.])@[A-Za-z0-9_]{4,32}(?!\w)", re.ASCII)),
    ("hashtag", re.compile(r"(?<![\w#&/])#(?=\w*[^\W\d_])\w{1,256}(?![\w#])")),
    ("phone_number", re.compile(r"(?<![\w+])\+\d(?:[ ()-]{0,2}\d){6,14}(?!\w)")),
)
"""What Telegram detects in any text."""
_TRAILING = ".,;:!?)'\"”\u2019…"
_WORTH_A_LOOK = re.compile(r"[@#/+]|\.\w")


@dataclass(frozen=True)
class Formatted:
    """Text with its entities, offsets and lengths in UTF-16 units."""

    text: str
    entities: list[JsonObject]


def formatted(text: str, parse_mode: str, find_user: Callable[[int], JsonObject | None]) -> Formatted:
    """Parse a text with its parse mode, HTML or none. Surrounding space is removed.

    Raises:
        BadRequest: the text is too long, or its markup is wrong.
    """
    if len(text.encode(errors="replace")) > MAX_RAW_BYTES:
        raise BadRequest("text is too long")
    entities: list[JsonObject] = []
    if parse_mode:
        if parse_mode.lower() != "html":
            raise BadRequest("unsupported parse_mode: the sandbox reads HTML only")
        try:
            text, entities = parse(text, find_user)
        except MarkupError as error:
            raise BadRequest(f"can't parse entities: {error}") from error
    return _with_detected(_trimmed(text.replace("\r", ""), entities))


def plain(text: str) -> Formatted:
    """Return a user's text with the detected entities."""
    return _with_detected(_trimmed(text, []))


def _trimmed(text: str, entities: list[JsonObject]) -> Formatted:
    """Remove the space around a text. Space within an entity at its beginning stays."""
    kept = text.rstrip(_SPACES)
    lead = len(kept) - len(kept.lstrip(_SPACES))
    # These spaces are one UTF-16 unit each.
    lead = min((lead, *(entity["offset"] for entity in entities)))
    kept = kept[lead:]
    end = utf16_length(kept)
    clipped = []
    for entity in entities:
        start, stop = entity["offset"] - lead, min(end, entity["offset"] + entity["length"] - lead)
        if start < stop:
            clipped.append({**entity, "offset": start, "length": stop - start})
    return Formatted(kept, clipped)


def _with_detected(given: Formatted) -> Formatted:
    opaque = [_span(entity) for entity in given.entities if entity["type"] in _OPAQUE]
    kept = [entity for entity in given.entities if not _is_hidden(entity, opaque)]
    taken = [_span(entity) for entity in kept if entity["type"] in _NO_DETECTION_IN]
    everything = kept + list(_detect(given.text, taken))
    everything.sort(key=lambda entity: (entity["offset"], -entity["length"], _order(entity["type"])))
    return Formatted(given.text, everything)


def _detect(text: str, taken: list[tuple[int, int]]) -> Iterator[JsonObject]:
    """Yield the entities outside of `taken`, UTF-16 ranges that other entities cover."""
    if not _WORTH_A_LOOK.search(text):
        return
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            words = match[0].rstrip(_TRAILING) if kind == "url" else match[0]
            start, length = utf16_length(text[: match.start()]), utf16_length(words)
            if not _overlaps((start, start + length), taken):
                taken.append((start, start + length))
                yield {"type": kind, "offset": start, "length": length}


def _order(kind: str) -> int:
    """Return the sort order for entities with the same text. The outer one comes first."""
    return _OUTER_FIRST.index(kind) if kind in _OUTER_FIRST else len(_OUTER_FIRST)


def _span(entity: JsonObject) -> tuple[int, int]:
    return entity["offset"], entity["offset"] + entity["length"]


def _overlaps(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def _is_hidden(entity: JsonObject, opaque: list[tuple[int, int]]) -> bool:
    """Return whether an entity is inside code. Only a quotation around the code applies."""
    is_outer = entity["type"] in _OPAQUE or entity["type"].endswith("blockquote")
    return not is_outer and _overlaps(_span(entity), opaque)

"""Conversion of what a bot or a user wrote into the text and entities of a message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.server.errors import BadRequest
from bot.sandbox.bot_api.text import detect, html, utf16
from bot.sandbox.bot_api.text.html_tags import MarkupError
from bot.sandbox.bot_api.text.links import LinkError, checked_link

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.sandbox.bot_api.model import JsonObject

MAX_RAW_BYTES = 32_768
OPAQUE = frozenset({"code", "pre"})
_EXPLICIT = frozenset(
    {
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "blockquote",
        "expandable_blockquote",
        "code",
        "pre",
        "text_link",
        "text_mention",
        "custom_emoji",
        "date_time",
    }
)
_FIELDS = ("url", "user", "language", "custom_emoji_id", "unix_time", "date_time_format")
_NO_DETECTION_IN = frozenset({"code", "pre", "text_link", "text_mention"})
_OUTER_FIRST = ("blockquote", "expandable_blockquote", "pre", "code", "text_link", "text_mention")
_SPACES = " \t\n\r\v\f\u00a0\u200b\u2060"


@dataclass(frozen=True)
class Formatted:
    """Text with its entities, offsets and lengths in UTF-16 units."""

    text: str
    entities: list[JsonObject]


def formatted(
    text: str,
    parse_mode: str,
    explicit: Any,  # noqa: ANN401  JSON from outside
    find_user: Callable[[int], JsonObject | None],
) -> Formatted:
    """Parse a text with its parse mode or explicit entities. Surrounding space is removed.

    Raises:
        BadRequest: with Telegram's text.
    """
    if len(text.encode(errors="replace")) > MAX_RAW_BYTES:
        raise BadRequest("text is too long")
    mode = parse_mode.lower()
    entities: list[JsonObject] = []
    if text and mode not in {"", "none"}:
        text, entities = _parsed(text, mode, find_user)
    elif isinstance(explicit, list):
        entities = [entity for given in explicit if (entity := _explicit(given, text, find_user))]
    return _with_detected(_trimmed(text.replace("\r", ""), entities))


def plain(text: str) -> Formatted:
    """Return a user's text with the detected entities."""
    return _with_detected(_trimmed(text, []))


def _parsed(text: str, mode: str, find_user: Callable[[int], JsonObject | None]) -> tuple[str, list[JsonObject]]:
    if mode in {"markdown", "markdownv2"}:
        raise BadRequest("can't parse entities: the sandbox reads HTML only; set parse_mode to HTML")
    if mode != "html":
        raise BadRequest("unsupported parse_mode")
    try:
        return html.parse(text, find_user)
    except MarkupError as error:
        raise BadRequest(f"can't parse entities: {error}") from error


def _explicit(
    given: Any,  # noqa: ANN401  JSON from outside
    text: str,
    find_user: Callable[[int], JsonObject | None],
) -> JsonObject | None:
    if not isinstance(given, dict):
        raise BadRequest("can't parse MessageEntity: MessageEntity must be an Object")
    for name in ("type", "offset", "length"):
        if name not in given:
            raise BadRequest(f"can't parse MessageEntity: Can't find field \"{name}\"")
    if given["type"] not in _EXPLICIT:
        return None
    offset, length, end = int(given["offset"]), int(given["length"]), utf16.length(text)
    if offset > end or offset < 0:
        raise BadRequest(f"entity begins after the end of the text at UTF-16 offset {offset}")
    if offset + length > end:
        raise BadRequest(
            f"entity beginning at UTF-16 offset {offset} ends after the end of the text"
            f" at UTF-16 offset {offset + length}"
        )
    entity = {"type": given["type"], "offset": offset, "length": length}
    entity.update({name: given[name] for name in _FIELDS if given.get(name) is not None})
    return _resolved(entity, find_user) if length > 0 else None


def _resolved(entity: JsonObject, find_user: Callable[[int], JsonObject | None]) -> JsonObject | None:
    if entity["type"] == "text_link":
        try:
            return {**entity, "url": checked_link(str(entity.get("url", "")))}
        except LinkError:
            return None
    if entity["type"] == "text_mention":
        user = find_user(int(entity.get("user", {}).get("id", 0)))
        return None if user is None else {**entity, "user": user}
    return entity


def _trimmed(text: str, entities: list[JsonObject]) -> Formatted:
    kept = text.rstrip(_SPACES)
    lead = len(kept) - len(kept.lstrip(_SPACES))
    if entities and lead:
        first = utf16.Positions(kept).index(min(entity["offset"] for entity in entities))
        lead = min(lead, first or 0)
    kept = kept[lead:]
    end = utf16.length(kept)
    clipped = []
    for entity in entities:
        start = max(0, entity["offset"] - lead)
        stop = min(end, entity["offset"] + entity["length"] - lead)
        if start < stop:
            clipped.append({**entity, "offset": start, "length": stop - start})
    return Formatted(kept, clipped)


def _with_detected(given: Formatted) -> Formatted:
    opaque = [_span(entity) for entity in given.entities if entity["type"] in OPAQUE]
    kept = [entity for entity in given.entities if not _hidden(entity, opaque)]
    taken = [_span(entity) for entity in kept if entity["type"] in _NO_DETECTION_IN]
    everything = kept + detect.find(given.text, taken)
    everything.sort(key=lambda entity: (entity["offset"], -entity["length"], _order(entity["type"])))
    return Formatted(given.text, everything)


def _order(kind: str) -> int:
    """Return the sort order for entities with the same text. The outer one comes first."""
    return _OUTER_FIRST.index(kind) if kind in _OUTER_FIRST else len(_OUTER_FIRST)


def _span(entity: JsonObject) -> tuple[int, int]:
    return entity["offset"], entity["offset"] + entity["length"]


def _hidden(entity: JsonObject, opaque: list[tuple[int, int]]) -> bool:
    """Return whether an entity is inside code. Only a quotation around the code applies."""
    if entity["type"] in OPAQUE or entity["type"].endswith("blockquote"):
        return False
    start, end = _span(entity)
    return any(start < other_end and other_start < end for other_start, other_end in opaque)

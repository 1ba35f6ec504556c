"""Validation of keyboards, and the form in which messages have them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.calls import BadRequest
from bot.sandbox.bot_api.html import MarkupError, checked_link, mentioned_user

if TYPE_CHECKING:
    from bot.sandbox.bot_api.calls import Params
    from bot.sandbox.bot_api.model import JsonObject

MAX_CALLBACK_BYTES = 64
MAX_COPY_CHARACTERS = 256
MAX_INLINE_BUTTONS = 100
MAX_INLINE_BYTES = 10_240
_STYLES = frozenset({"danger", "success", "primary"})
_INLINE_KINDS = ("url", "callback_data", "switch_inline_query", "switch_inline_query_current_chat", "copy_text")
_KEYBOARD_KINDS = ("keyboard", "remove_keyboard", "force_reply")


@dataclass(frozen=True)
class Markup:
    """A checked `reply_markup`: an inline keyboard, or a kind that only clients see."""

    inline: JsonObject | None = None
    keyboard: JsonObject | None = None


NOTHING = Markup()


def read_markup(params: Params, *, inline_only: bool = False) -> Markup:
    """Read and check `reply_markup`.

    Raises:
        BadRequest: Telegram rejects it.
    """
    value = params.structure("reply_markup")
    if value is None:
        return NOTHING
    if not isinstance(value, dict):
        raise BadRequest("object expected as reply markup")
    if any(value.get(kind) for kind in _KEYBOARD_KINDS):
        if inline_only:
            raise BadRequest("inline keyboard expected")
        return Markup(keyboard=value)
    given = value.get("inline_keyboard") or []
    if not isinstance(given, list) or not all(isinstance(row, list) for row in given):
        raise BadRequest('field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays')
    rows = [[_inline_button(button) for button in row] for row in given if row]
    return Markup(inline=_checked_size({"inline_keyboard": rows})) if rows else NOTHING


def _inline_button(button: Any) -> JsonObject:  # noqa: ANN401  JSON from outside
    if not isinstance(button, dict) or not isinstance(button.get("text"), str) or not button["text"]:
        raise BadRequest("can't parse inline keyboard button: Can't find field \"text\"")
    # A switch to inline mode may begin an empty query.
    kind = next((name for name in _INLINE_KINDS if button.get(name) or (name in button and "switch" in name)), None)
    if kind is None:
        raise BadRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    style = str(button.get("style") or "")
    if style and style not in _STYLES:
        raise BadRequest("can't parse inline keyboard button: invalid button style specified")
    return {"text": button["text"], **({"style": style} if style else {}), kind: _checked(kind, button[kind])}


def _checked(kind: str, value: Any) -> Any:  # noqa: ANN401  JSON from outside
    match kind:
        case "url":
            return _checked_url(str(value))
        case "callback_data":
            if not isinstance(value, str) or len(value.encode()) > MAX_CALLBACK_BYTES:
                raise BadRequest("BUTTON_DATA_INVALID")
        case "copy_text":
            if not 0 < len(str(value.get("text", ""))) <= MAX_COPY_CHARACTERS:
                raise BadRequest("BUTTON_COPY_TEXT_INVALID")
    return value


def _checked_url(url: str) -> str:
    if mentioned_user(url) is not None:
        return url
    try:
        return checked_link(url)
    except MarkupError as error:
        raise BadRequest(f"inline keyboard button URL '{url}' is invalid: {error}") from error


def _checked_size(markup: JsonObject) -> JsonObject:
    buttons = sum(map(len, markup["inline_keyboard"]))
    if buttons > MAX_INLINE_BUTTONS or len(json.dumps(markup, ensure_ascii=False)) > MAX_INLINE_BYTES:
        raise BadRequest("reply markup is too long")
    return markup

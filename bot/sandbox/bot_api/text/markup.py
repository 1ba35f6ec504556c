"""Validation of keyboards, and the form in which messages have them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.server.errors import BadRequest
from bot.sandbox.bot_api.text.links import LinkError, checked_link, mentioned_user

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.server.params import Params

MAX_CALLBACK_BYTES = 64
MAX_COPY_CHARACTERS = 256
MAX_ROW = 12
MAX_BUTTONS = 300
MAX_INLINE_BUTTONS = 100
MAX_INLINE_BYTES = 10_240
_STYLES = frozenset({"danger", "success", "primary"})
_INLINE_KINDS = (
    "url",
    "callback_data",
    "callback_game",
    "pay",
    "switch_inline_query",
    "switch_inline_query_chosen_chat",
    "switch_inline_query_current_chat",
    "login_url",
    "web_app",
    "copy_text",
)
_REPLY_OPTIONS = ("is_persistent", "resize_keyboard", "one_time_keyboard", "input_field_placeholder", "selective")


@dataclass(frozen=True)
class Markup:
    """A checked `reply_markup`: an inline keyboard, or a kind that only clients see."""

    inline: JsonObject | None = None
    keyboard: JsonObject | None = None


NOTHING = Markup()


def read_markup(params: Params, *, inline_only: bool = False) -> Markup:
    """Read and check `reply_markup`.

    Raises:
        BadRequest: with Telegram's text.
    """
    value = params.structure("reply_markup", "can't parse reply keyboard markup JSON object")
    if value is None:
        return NOTHING
    if not isinstance(value, dict):
        raise BadRequest("object expected as reply markup")
    markup = _read(value)
    if inline_only and markup.keyboard is not None:
        raise BadRequest("inline keyboard expected")
    return markup


def _read(value: JsonObject) -> Markup:
    if rows := _rows(value, "keyboard", _reply_button):
        options = {name: value[name] for name in _REPLY_OPTIONS if value.get(name)}
        return Markup(keyboard={"keyboard": rows, **options})
    if rows := _rows(value, "inline_keyboard", _inline_button):
        return Markup(inline=_checked_size({"inline_keyboard": rows}))
    if value.get("remove_keyboard"):
        return Markup(keyboard={"remove_keyboard": True})
    if value.get("force_reply"):
        placeholder = value.get("input_field_placeholder")
        more = {"input_field_placeholder": placeholder} if placeholder else {}
        return Markup(keyboard={"force_reply": True, **more})
    return NOTHING


def _rows(value: JsonObject, field: str, read_button: Any) -> list[list[JsonObject]]:  # noqa: ANN401
    given = value.get(field) or []
    owner = "" if field == "keyboard" else " of the InlineKeyboardMarkup"
    if not isinstance(given, list) or not all(isinstance(row, list) for row in given):
        raise BadRequest(f'field "{field}"{owner} must be an Array of Arrays')
    rows: list[list[JsonObject]] = []
    left = MAX_BUTTONS
    for row in given:
        buttons = [button for given_button in row if (button := read_button(given_button))]
        buttons = buttons[: min(MAX_ROW, left)]
        left -= len(buttons)
        if buttons:
            rows.append(buttons)
    return rows


def _reply_button(button: Any) -> JsonObject | None:  # noqa: ANN401  JSON from outside
    if isinstance(button, str):
        return {"text": button} if button else None
    if not isinstance(button, dict):
        raise BadRequest("can't parse keyboard button: KeyboardButton must be a String or an Object")
    if not isinstance(button.get("text"), str):
        raise BadRequest("can't parse keyboard button: Can't find field \"text\"")
    more = {name: value for name, value in button.items() if name.startswith("request_") or name == "web_app"}
    return {"text": button["text"], **_style(button), **more} if button["text"] else None


def _inline_button(button: Any) -> JsonObject | None:  # noqa: ANN401  JSON from outside
    if not isinstance(button, dict):
        raise BadRequest("can't parse inline keyboard button: InlineKeyboardButton must be an Object")
    text = button.get("text")
    if not isinstance(text, str):
        raise BadRequest("can't parse inline keyboard button: Can't find field \"text\"")
    kind = next((name for name in _INLINE_KINDS if button.get(name) not in (None, "")), None)
    if kind is None and button.get("switch_inline_query") == "":
        kind = "switch_inline_query"  # it begins an empty query
    if kind is None:
        raise BadRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    if not text:
        return None
    return {"text": text, **_style(button), kind: _checked(kind, button[kind])}


def _style(button: JsonObject) -> JsonObject:
    style = str(button.get("style") or "").lower()
    if style not in {*_STYLES, "", "default"}:
        raise BadRequest("can't parse inline keyboard button: invalid button style specified")
    shown: JsonObject = {"style": style} if style in _STYLES else {}
    if button.get("icon_custom_emoji_id"):
        shown["icon_custom_emoji_id"] = str(button["icon_custom_emoji_id"])
    return shown


def _checked(kind: str, value: Any) -> Any:  # noqa: ANN401  JSON from outside
    match kind:
        case "url":
            return _checked_url(str(value))
        case "callback_data":
            if not isinstance(value, str) or len(value.encode()) > MAX_CALLBACK_BYTES:
                raise BadRequest("BUTTON_DATA_INVALID")
        case "copy_text":
            text = value.get("text") if isinstance(value, dict) else None
            if not isinstance(text, str) or not 0 < len(text) <= MAX_COPY_CHARACTERS:
                raise BadRequest("BUTTON_COPY_TEXT_INVALID")
            return {"text": text}
    return value


def _checked_url(url: str) -> str:
    if mentioned_user(url) is not None:
        return url
    try:
        return checked_link(url)
    except LinkError as error:
        raise BadRequest(f"inline keyboard button URL '{url}' is invalid: {error}") from error


def _checked_size(markup: JsonObject) -> JsonObject:
    buttons = sum(map(len, markup["inline_keyboard"]))
    if buttons > MAX_INLINE_BUTTONS or len(json.dumps(markup, ensure_ascii=False)) > MAX_INLINE_BYTES:
        raise BadRequest("reply markup is too long")
    return markup

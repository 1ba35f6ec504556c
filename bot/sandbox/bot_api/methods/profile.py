"""setMyName, setMyDescription, setMyShortDescription and their getters: one text per language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.bot_api.methods.bot import language
from bot.sandbox.bot_api.server.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.server.params import Params

_TEXTS = {
    "Name": ("name", "names", 64, "BOT_TITLE_INVALID"),
    "Description": ("description", "descriptions", 512, "BOT_DESCRIPTION_INVALID"),
    "ShortDescription": ("short_description", "short_descriptions", 120, "BOT_SHORT_DESCRIPTION_INVALID"),
}


def _setter(field: str, store: str, longest: int, complaint: str) -> Callable[[Sandbox, Params], Awaitable[bool]]:
    async def set_text(box: Sandbox, params: Params) -> bool:
        text = params.text(field)
        if len(text) > longest:
            raise BadRequest(complaint)
        texts, code = getattr(box.world.state, store), language(params)
        if text:
            texts[code] = text
        else:
            texts.pop(code, None)
        box.publish(store, **{store: texts})
        return True

    return set_text


def _getter(field: str, store: str) -> Callable[[Sandbox, Params], Awaitable[JsonObject]]:
    async def get_text(box: Sandbox, params: Params) -> JsonObject:
        texts = getattr(box.world.state, store)
        fallback = box.world.settings.bot_name if field == "name" else ""
        return {field: texts.get(language(params)) or texts.get("") or fallback}

    return get_text


METHODS = {
    **{f"setMy{name}": _setter(*details) for name, details in _TEXTS.items()},
    **{f"getMy{name}": _getter(*details[:2]) for name, details in _TEXTS.items()},
}

"""answerCallbackQuery and getFile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.bot_api.people.media import MAX_DOWNLOAD_BYTES
from bot.sandbox.bot_api.server.errors import BadRequest

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.server.params import Params

ANSWERABLE_SECONDS = 150
MAX_ANSWER = 200
TOO_OLD = "query is too old and response timeout expired or query ID is invalid"


async def answer_callback_query(box: Sandbox, params: Params) -> bool:
    """Answer a waiting button press. A second answer is accepted and shows nothing."""
    press = box.world.presses.get(params.text("callback_query_id"))
    if press is None or box.world.now() - press.at > ANSWERABLE_SECONDS:
        raise BadRequest(TOO_OLD)
    if len(params.text("text")) > MAX_ANSWER:
        raise BadRequest("MESSAGE_TOO_LONG")
    url = params.text("url")
    if url and not url.startswith(("tg://", "https://t.me/")):
        raise BadRequest("URL_INVALID")
    if press.answer is not None:
        return True
    press.answer = {
        "text": params.text("text"),
        "show_alert": params.flag("show_alert"),
        "url": url,
    }
    box.world.save_press(press)
    waiting = box.waiting.pop(press.id, None)
    if waiting is not None and not waiting.done():
        waiting.set_result(press.answer)
    box.publish(
        "callback_answer",
        chat_id=press.chat_id,
        message_id=press.message_id,
        query_id=press.id,
        person_id=press.person_id,
        **press.answer,
    )
    return True


async def get_file(box: Sandbox, params: Params) -> JsonObject:
    """Return where a file can be downloaded."""
    if not params.text("file_id"):
        raise BadRequest("file_id not specified")
    file = box.world.files.get(params.text("file_id"))
    if file is None:
        raise BadRequest("wrong file_id or the file is temporarily unavailable")
    if file.size > MAX_DOWNLOAD_BYTES:
        raise BadRequest("file is too big")
    return file.as_file()


METHODS = {"answerCallbackQuery": answer_callback_query, "getFile": get_file}

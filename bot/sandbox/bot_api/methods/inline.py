"""answerInlineQuery: results of kind `article`, which send text. The other kinds aren't needed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.methods.new_messages import check_length
from bot.sandbox.bot_api.server.errors import BadRequest
from bot.sandbox.bot_api.text.entities import formatted
from bot.sandbox.bot_api.text.markup import read_markup

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.server.params import Params

MAX_RESULTS = 50
MAX_ID_BYTES = 64
MAX_START_WORD = 64
ANSWERABLE_SECONDS = 10.0
TOO_OLD = "query is too old and response timeout expired or query ID is invalid"


async def answer_inline_query(box: Sandbox, params: Params) -> bool:
    """Answer a waiting inline query. Each result is kept with the message that it sends."""
    query = box.inline_queries.get(params.text("inline_query_id"))
    if query is None or query.answer is not None or box.world.now() - query.at > ANSWERABLE_SECONDS:
        raise BadRequest(TOO_OLD)
    given: Any = params.structure("results", "can't parse inline query results JSON object")
    if not isinstance(given, list):
        raise BadRequest("expected an Array of InlineQueryResult")
    if len(given) > MAX_RESULTS:
        raise BadRequest("RESULTS_TOO_MUCH")
    results = [_result(box, type(params)(each)) for each in given if isinstance(each, dict)]
    if len({result["id"] for result in results}) < len(given):
        raise BadRequest("RESULT_ID_DUPLICATE")
    query.answer = {
        "results": results,
        "button": _button(params),
        "is_personal": params.flag("is_personal"),
        "cache_time": int(params.text("cache_time") or 300),
    }
    query.answered.set()
    return True


def _result(box: Sandbox, params: Params) -> JsonObject:
    if params.text("type") != "article":
        raise BadRequest("this sandbox knows only results of the type article")
    result_id, title = params.text("id"), params.text("title")
    if not 1 <= len(result_id.encode()) <= MAX_ID_BYTES:
        raise BadRequest("RESULT_ID_INVALID")
    if not title:
        raise BadRequest("ARTICLE_TITLE_EMPTY")
    given: Any = params.structure("input_message_content", "can't parse input message content JSON object")
    if not isinstance(given, dict):
        raise BadRequest("input message content is not specified")
    content = type(params)(given)
    text = formatted(content.text("message_text"), content.text("parse_mode"), None, box.world.user)
    if not text.text:
        raise BadRequest("message text is empty")
    message: JsonObject = {"text": text.text}
    if text.entities:
        message["entities"] = text.entities
    check_length(message)
    markup = read_markup(params, inline_only=True)
    return {
        "id": result_id,
        "title": title,
        "description": params.text("description"),
        "message": message,
        "reply_markup": markup.inline,
    }


def _button(params: Params) -> JsonObject | None:
    given: Any = params.structure("button", "can't parse inline query results button JSON object")
    if given is None:
        return None
    word = given.get("start_parameter", "") if isinstance(given, dict) else ""
    if not isinstance(given, dict) or not given.get("text") or not 0 < len(str(word)) <= MAX_START_WORD:
        raise BadRequest("BUTTON_INVALID")
    return {"text": str(given["text"]), "start_parameter": str(word)}


METHODS = {"answerInlineQuery": answer_inline_query}

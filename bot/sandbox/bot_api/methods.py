"""The methods about updates, answers, topics, chats and the bot itself, and running any method by its name."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from bot.sandbox.bot_api import sending
from bot.sandbox.bot_api.box import Sandbox
from bot.sandbox.bot_api.calls import BadRequest, NotFound, Params
from bot.sandbox.bot_api.chats import post_service, readable_chat, remove, writable_chat
from bot.sandbox.bot_api.markup import read_markup
from bot.sandbox.bot_api.media import MAX_DOWNLOAD_BYTES
from bot.sandbox.bot_api.model import Topic

if TYPE_CHECKING:
    from bot.sandbox.bot_api.model import Chat, JsonObject

Method: TypeAlias = Callable[[Sandbox, Params], Awaitable[Any]]

WEBHOOK_ACTIVE = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
MAX_WAIT_SECONDS = 50
MAX_SECRET = 256
WEBHOOK_PORTS = frozenset({80, 88, 443, 8443})
_SECRET = re.compile(r"[A-Za-z0-9_-]*")
ANSWERABLE_SECONDS = 150
ANSWERABLE_INLINE_SECONDS = 10.0
MAX_ANSWER = 200
TOO_OLD = "query is too old and response timeout expired or query ID is invalid"
MAX_RESULTS = 50
COLORS = (7322096, 16766590, 13338331, 9367192, 16749490, 16478047)
MAX_TOPIC_NAME = 128
MAX_COMMANDS = 100
MAX_COMMAND_DESCRIPTION = 256
_COMMAND = re.compile(r"/?([a-z0-9_]{1,32})")
_LANGUAGE = re.compile(r"([a-z]{2})?")
_SCOPES = frozenset({"default", "all_private_chats", "all_group_chats", "all_chat_administrators"})
_ABILITIES = {
    "can_join_groups": True,
    "can_read_all_group_messages": False,
    "supports_guest_queries": False,
    "can_connect_to_business": False,
    "has_main_web_app": False,
    "has_topics_enabled": False,
    "allows_users_to_create_topics": False,
    "can_manage_bots": False,
}
_GIFTS = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")


class RawJson(str):
    """An answer that is already JSON text."""

    __slots__ = ()


# Updates


async def get_updates(box: Sandbox, params: Params) -> RawJson:
    """Return updates from `offset` on. Wait up to `timeout` seconds for the first."""
    if box.world.state.webhook is not None:
        await box.updates.conflict(WEBHOOK_ACTIVE)
    _choose_updates(box, params)
    box.updates.polled.set()
    limit, timeout = params.integer("limit", 100), params.integer("timeout")
    seconds = min(max(timeout, 0), MAX_WAIT_SECONDS)
    found = await box.updates.poll(params.integer("offset"), min(max(limit, 1), 100), seconds)
    return RawJson(f"[{','.join(found)}]")


async def set_webhook(box: Sandbox, params: Params) -> bool:
    """Set the webhook. Unlike Telegram, the sandbox accepts any port and plain HTTP for this machine."""
    url, secret = params.text("url"), params.text("secret_token")
    if not url:
        return await delete_webhook(box, params)
    if len(secret) > MAX_SECRET or not _SECRET.fullmatch(secret):
        raise BadRequest("secret token is too long or contains unallowed characters")
    _check_address(url)
    _choose_updates(box, params)
    connections = min(max(params.integer("max_connections", 40), 1), 100)
    webhook: JsonObject = {"url": url, "secret_token": secret, "max_connections": connections}
    if webhook.items() <= (box.world.state.webhook or {}).items():
        return True  # nothing changed, so what is being delivered isn't interrupted
    box.world.state.webhook = webhook
    box.updates.end_poll_for_webhook()
    return _save_webhook(box)


async def delete_webhook(box: Sandbox, _: Params) -> bool:
    """Stop posting updates."""
    box.world.state.webhook = None
    return _save_webhook(box)


async def get_webhook_info(box: Sandbox, _: Params) -> JsonObject:
    """Return the webhook's address and its last errors."""
    state = box.world.state
    info: JsonObject = {"url": "", "has_custom_certificate": False, "pending_update_count": len(box.updates)}
    info |= {name: value for name, value in (state.webhook or {}).items() if name != "secret_token"}
    return info if state.allowed_updates is None else {**info, "allowed_updates": state.allowed_updates}


def _choose_updates(box: Sandbox, params: Params) -> None:
    """Set `allowed_updates`. If missing, keep the last value. [] means all kinds except three."""
    given: Any = params.structure("allowed_updates")
    if isinstance(given, list):
        box.world.state.allowed_updates = [str(kind) for kind in given] or None
        box.world.save_state()


def _check_address(url: str) -> None:
    """Accept what Telegram accepts, and any address of this machine.

    Raises:
        BadRequest: plain HTTP, or another port.
    """
    parts = urlsplit(url)
    if _is_this_machine(parts.hostname or ""):
        return
    if parts.scheme.lower() != "https":
        raise BadRequest("bad webhook: An HTTPS URL must be provided for webhook")
    if (parts.port or 443) not in WEBHOOK_PORTS:
        raise BadRequest("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _save_webhook(box: Sandbox) -> bool:
    box.world.save_state()
    box.webhook_changed.set()
    return True


# Answers


async def answer_callback_query(box: Sandbox, params: Params) -> bool:
    """Answer a waiting button press. A second answer is accepted and shows nothing."""
    press = box.world.presses.get(params.text("callback_query_id"))
    if press is None or box.world.now() - press.at > ANSWERABLE_SECONDS:
        raise BadRequest(TOO_OLD)
    if len(params.text("text")) > MAX_ANSWER:
        raise BadRequest("MESSAGE_TOO_LONG")
    if press.answer is not None:
        return True
    press.answer = {"text": params.text("text"), "show_alert": params.flag("show_alert"), "url": params.text("url")}
    box.world.save_press(press)
    waiting = box.waiting.pop(press.id, None)
    if waiting is not None and not waiting.done():
        waiting.set_result(press.answer)
    place = {"chat_id": press.chat_id, "message_id": press.message_id}
    box.publish("callback_answer", **place, query_id=press.id, person_id=press.person_id, **press.answer)
    return True


async def answer_inline_query(box: Sandbox, params: Params) -> bool:
    """Answer a waiting inline query with results that send text. Each is kept with the message that it sends."""
    query = box.inline_queries.get(params.text("inline_query_id"))
    if query is None or query.answer is not None or box.world.now() - query.at > ANSWERABLE_INLINE_SECONDS:
        raise BadRequest(TOO_OLD)
    given: list[JsonObject] = params.structure("results") or []
    if len(given) > MAX_RESULTS:
        raise BadRequest("RESULTS_TOO_MUCH")
    query.answer = {
        "results": [_read_result(box, Params(each)) for each in given],
        "button": params.structure("button"),
        "is_personal": params.flag("is_personal"),
        "cache_time": params.integer("cache_time", 300),
    }
    query.answered.set()
    return True


def _read_result(box: Sandbox, params: Params) -> JsonObject:
    if params.text("type") != "article" or not params.text("id") or not params.text("title"):
        raise BadRequest("can't parse inline query result: the sandbox takes articles with an id and a title only")
    return {
        "id": params.text("id"),
        "title": params.text("title"),
        "description": params.text("description"),
        "message": sending.read_text(box, Params(params.structure("input_message_content") or {}), "message_text"),
        "reply_markup": read_markup(params, inline_only=True).inline,
    }


async def get_file(box: Sandbox, params: Params) -> JsonObject:
    """Return where a file can be downloaded."""
    file = box.world.files.get(params.text("file_id"))
    if file is None:
        raise BadRequest("wrong file_id or the file is temporarily unavailable")
    if file.size > MAX_DOWNLOAD_BYTES:
        raise BadRequest("file is too big")
    return file.as_file()


# Topics


async def create_forum_topic(box: Sandbox, params: Params) -> JsonObject:
    """Open a topic. Its id is that of the service message about it."""
    chat, name = _forum(box, params), params.text("name").strip()[:MAX_TOPIC_NAME]
    if not name:
        raise BadRequest("TOPIC_TITLE_EMPTY")
    topic = Topic(chat.last_message_id + 1, name, COLORS[len(chat.topics) % len(COLORS)])
    chat.topics[topic.id] = topic
    described = {"name": topic.name, "icon_color": topic.icon_color}
    _note_topic(box, chat, {"forum_topic_created": described}, topic)
    return {"message_thread_id": topic.id, **described}


async def edit_forum_topic(box: Sandbox, params: Params) -> bool:
    """Rename a topic."""
    chat = _forum(box, params)
    topic, name = _topic(chat, params), params.text("name").strip()[:MAX_TOPIC_NAME]
    if not name or name == topic.name:
        raise BadRequest("TOPIC_NOT_MODIFIED")
    topic.name = name
    return _note_topic(box, chat, {"forum_topic_edited": {"name": name}}, topic)


async def close_forum_topic(box: Sandbox, params: Params) -> bool:
    """Close a topic: only administrators can write in it."""
    return _set_closed(box, params, closed=True)


async def reopen_forum_topic(box: Sandbox, params: Params) -> bool:
    """Open a closed topic again."""
    return _set_closed(box, params, closed=False)


async def delete_forum_topic(box: Sandbox, params: Params) -> bool:
    """Delete a topic with all its messages."""
    chat = _forum(box, params)
    topic = _topic(chat, params)
    del chat.topics[topic.id]
    for message in list(box.world.messages.get(chat.id, {}).values()):
        if message.thread_id == topic.id:
            remove(box, message)
    return _publish_topics(box, chat)


def _set_closed(box: Sandbox, params: Params, *, closed: bool) -> bool:
    chat = _forum(box, params)
    topic = _topic(chat, params)
    if topic.closed == closed:
        raise BadRequest("TOPIC_NOT_MODIFIED")
    topic.closed = closed
    return _note_topic(box, chat, {"forum_topic_closed" if closed else "forum_topic_reopened": {}}, topic)


def _forum(box: Sandbox, params: Params) -> Chat:
    chat = writable_chat(box.world, params)
    if not chat.is_forum:
        raise BadRequest("the chat is not a forum")
    if chat.statuses.get(box.world.settings.bot_id) != "administrator":
        raise BadRequest("not enough rights to create a topic")
    return chat


def _topic(chat: Chat, params: Params) -> Topic:
    topic = chat.topics.get(params.integer("message_thread_id"))
    if topic is None:
        raise BadRequest("TOPIC_ID_INVALID")
    return topic


def _note_topic(box: Sandbox, chat: Chat, content: JsonObject, topic: Topic) -> bool:
    """Post the service message about a topic, and publish the chat's topics."""
    post_service(box, chat, box.world.bot_user(), content, topic)
    return _publish_topics(box, chat)


def _publish_topics(box: Sandbox, chat: Chat) -> bool:
    box.world.save_chat(chat)
    box.publish("chat", chat_id=chat.id, topics=[vars(topic) for topic in chat.topics.values()])
    return True


# Chats and the bot itself


async def get_chat(box: Sandbox, params: Params) -> JsonObject:
    """Return the description of a chat (`ChatFullInfo`)."""
    chat = readable_chat(box.world, params)
    return {
        **box.world.chat_json(chat),
        "accent_color_id": abs(chat.id) % 7,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(_GIFTS, chat.type == "private"),
    }


async def get_me(box: Sandbox, _: Params) -> JsonObject:
    """Return the bot."""
    return {**box.world.bot_user(), **_ABILITIES, "supports_inline_queries": box.world.settings.inline_mode}


async def set_my_commands(box: Sandbox, params: Params) -> bool:
    """Set the list of commands for a scope and a language."""
    given: list[JsonObject] = params.structure("commands") or []
    if len(given) > MAX_COMMANDS:
        raise BadRequest("BOT_COMMANDS_TOO_MUCH")
    box.world.state.commands[_scope(box, params)] = [_command(each) for each in given]
    box.world.save_state()
    box.publish("commands", commands=box.world.state.commands)
    return True


async def get_my_commands(box: Sandbox, params: Params) -> list[JsonObject]:
    """Return the commands of exactly this scope and language."""
    return box.world.state.commands.get(_scope(box, params), [])


async def set_my_description(box: Sandbox, params: Params) -> bool:
    """Set what an empty chat with the bot shows."""
    given = box.world.state.descriptions | _read_profile_text(params, "description", 512)
    box.world.state.descriptions = {code: text for code, text in given.items() if text}
    box.publish("descriptions", descriptions=box.world.state.descriptions)
    return True


async def set_my_short_description(_: Sandbox, params: Params) -> bool:
    """Take the text of the bot's profile. Nobody sees it here."""
    _read_profile_text(params, "short_description", 120)
    return True


def _read_profile_text(params: Params, name: str, longest: int) -> dict[str, str]:
    if len(params.text(name)) > longest:
        raise BadRequest(f"BOT_{name.upper()}_INVALID")
    return {_read_language(params): params.text(name)}


def _command(given: JsonObject) -> JsonObject:
    name, description = _COMMAND.fullmatch(str(given.get("command"))), str(given.get("description", ""))
    if name is None:
        raise BadRequest("BOT_COMMAND_INVALID")
    if not 0 < len(description) <= MAX_COMMAND_DESCRIPTION:
        raise BadRequest("BOT_COMMAND_DESCRIPTION_INVALID")
    return {"command": name[1], "description": description}


def _scope(box: Sandbox, params: Params) -> str:
    scope = Params(params.structure("scope") or {"type": "default"})
    kind = scope.text("type")
    if kind not in {*_SCOPES, "chat"}:
        raise BadRequest("can't parse BotCommandScope: unsupported type specified")
    place = f":{readable_chat(box.world, scope).id}" if kind == "chat" else ""
    return f"{kind}{place}/{_read_language(params)}"


def _read_language(params: Params) -> str:
    """Return the `language_code` of a call, "" for all languages.

    Raises:
        BadRequest: it isn't two letters.
    """
    code = params.text("language_code")
    if not _LANGUAGE.fullmatch(code):
        raise BadRequest("LANG_CODE_INVALID")
    return code


SERVED: dict[str, Method] = {
    name.replace("_", ""): function
    for module in (sys.modules[__name__], sending)
    for name, function in vars(module).items()
    if iscoroutinefunction(function) and function.__module__ == module.__name__
}
"""The coroutine functions above and those of `sending`, by the method's name in small letters."""


def find_method(name: str) -> Method:
    """Return the method of a name, in any case.

    Raises:
        NotFound: there is no such method.
    """
    method = SERVED.get(name.lower())
    if method is None:
        raise NotFound("method not found")
    return method


async def run(box: Sandbox, name: str, params: Params) -> Any:  # noqa: ANN401  each method has its own result
    """Run a method and return its `result`.

    Raises:
        ApiError: the call is rejected.
    """
    return await find_method(name)(box, params)

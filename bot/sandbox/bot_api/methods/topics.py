"""createForumTopic, editForumTopic, closeForumTopic, reopenForumTopic, deleteForumTopic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.sandbox.bot_api.model import Topic
from bot.sandbox.bot_api.people.access import require_administrator, writable_chat
from bot.sandbox.bot_api.people.chat_messages import post_service, remove
from bot.sandbox.bot_api.server.errors import BadRequest

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import Chat, JsonObject
    from bot.sandbox.bot_api.server.params import Params

COLORS = (7322096, 16766590, 13338331, 9367192, 16749490, 16478047)
MAX_NAME = 128


async def create_forum_topic(box: Sandbox, params: Params) -> JsonObject:
    """Open a topic. Its id is that of the service message about it."""
    chat = _forum(box, params)
    name = params.text("name").strip()[:MAX_NAME]
    if not name:
        raise BadRequest("TOPIC_TITLE_EMPTY")
    color = params.integer("icon_color", COLORS[len(chat.topics) % len(COLORS)])
    if color not in COLORS:
        raise BadRequest("invalid icon color specified")
    topic = Topic(chat.last_message_id + 1, name, color, params.text("icon_custom_emoji_id"))
    chat.topics[topic.id] = topic
    post_service(box, chat, box.world.bot_user(), {"forum_topic_created": _described(topic)}, topic)
    _publish_topic(box, chat)
    return {"message_thread_id": topic.id, **_described(topic)}


async def edit_forum_topic(box: Sandbox, params: Params) -> bool:
    """Rename a topic, or change its icon."""
    chat = _forum(box, params)
    topic = _topic(chat, params)
    name = params.text("name").strip()[:MAX_NAME] or topic.name
    icon = params.text("icon_custom_emoji_id") if "icon_custom_emoji_id" in params else topic.icon_custom_emoji_id
    if (name, icon) == (topic.name, topic.icon_custom_emoji_id):
        raise BadRequest("TOPIC_NOT_MODIFIED")
    changed: JsonObject = {"name": name} if name != topic.name else {}
    if icon != topic.icon_custom_emoji_id:
        changed["icon_custom_emoji_id"] = icon
    topic.name, topic.icon_custom_emoji_id = name, icon
    post_service(box, chat, box.world.bot_user(), {"forum_topic_edited": changed}, topic)
    _publish_topic(box, chat)
    return True


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
    _publish_topic(box, chat)
    return True


def _forum(box: Sandbox, params: Params) -> Chat:
    chat = writable_chat(box.world, params)
    if not chat.is_forum:
        raise BadRequest("the chat is not a forum")
    require_administrator(box.world, chat, "not enough rights to create a topic")
    return chat


def _topic(chat: Chat, params: Params) -> Topic:
    topic = chat.topics.get(params.integer("message_thread_id"))
    if topic is None:
        raise BadRequest("TOPIC_ID_INVALID")
    return topic


def _set_closed(box: Sandbox, params: Params, *, closed: bool) -> bool:
    chat = _forum(box, params)
    topic = _topic(chat, params)
    if topic.closed == closed:
        raise BadRequest("TOPIC_NOT_MODIFIED")
    topic.closed = closed
    service: JsonObject = {"forum_topic_closed" if closed else "forum_topic_reopened": {}}
    post_service(box, chat, box.world.bot_user(), service, topic)
    _publish_topic(box, chat)
    return True


def _described(topic: Topic) -> JsonObject:
    described: JsonObject = {"name": topic.name, "icon_color": topic.icon_color}
    if topic.icon_custom_emoji_id:
        described["icon_custom_emoji_id"] = topic.icon_custom_emoji_id
    return described


def _publish_topic(box: Sandbox, chat: Chat) -> None:
    box.world.save_chat(chat)
    box.publish("chat", chat_id=chat.id, topics=[vars(topic) for topic in chat.topics.values()])


METHODS = {
    "createForumTopic": create_forum_topic,
    "editForumTopic": edit_forum_topic,
    "closeForumTopic": close_forum_topic,
    "reopenForumTopic": reopen_forum_topic,
    "deleteForumTopic": delete_forum_topic,
}

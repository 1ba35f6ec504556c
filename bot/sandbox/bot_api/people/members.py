"""Membership in chats, and the update that the bot gets when a status changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.bot_api.model import Chat, JsonObject

ALL_PERMISSIONS = (
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_react_to_messages",
    "can_edit_tag",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
)
_RIGHTS = (
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_pin_messages",
    "can_manage_topics",
)


def member_json(user: JsonObject, status: str) -> JsonObject:
    """Return a Bot API `ChatMember` of any status."""
    member: JsonObject = {"user": user, "status": status}
    if status == "creator":
        member["is_anonymous"] = False
    elif status == "administrator":
        member |= {"can_be_edited": False, "is_anonymous": False, **dict.fromkeys(_RIGHTS, True)}
    elif status == "kicked":
        member["until_date"] = 0
    return member


def set_status(box: Sandbox, chat: Chat, actor: JsonObject, user_id: int, status: str) -> None:
    """Change a user's status in a group and notify the bot."""
    old = chat.statuses.get(user_id, "left")
    chat.statuses[user_id] = status
    box.world.save_chat(chat)
    own = user_id == box.world.settings.bot_id
    queue_status_update(box, chat, actor, user_id, (old, status), kind="my_chat_member" if own else "chat_member")
    box.publish("chat", chat_id=chat.id, members=chat.members)


def queue_status_update(
    box: Sandbox, chat: Chat, actor: JsonObject, user_id: int, change: tuple[str, str], *, kind: str
) -> None:
    """Queue a `ChatMemberUpdated` for a change from one status to another."""
    user = box.world.user(user_id)
    if user is None or change[0] == change[1]:
        return
    box.updates.add(
        kind,
        {
            "chat": box.world.chat_json(chat),
            "from": actor,
            "date": int(box.world.now()),
            "old_chat_member": member_json(user, change[0]),
            "new_chat_member": member_json(user, change[1]),
        },
    )

"""Users' messages besides text: files, albums, edits, deletions and forwarded messages."""

from __future__ import annotations

import base64
from typing import Any

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.sandbox.bot_api_schema import problems
from tests.sandbox.telegram_sandbox import EMMA, OSCAR, RINA, SARI, Running, running

TEXT = {"name": "slip.txt", "mime": "text/plain", "content": base64.b64encode(b"paid").decode()}


async def sends(server: Running, person: int, chat: int | None = None, **what: Any) -> dict[str, Any]:
    message: dict[str, Any] = await server.posts(
        f"/sandbox/chats/{chat or person}/send", {"from": person, **what}, "message"
    )
    return message


async def heard(server: Running, kind: str = "message") -> list[dict[str, Any]]:
    """Return the bot's updates of a kind, each checked against the Bot API."""
    found = [update[kind] for update in await server.hears() if kind in update]
    assert [problem for each in found for problem in problems(each, ["Message"], kind)] == []
    return found


async def test_a_file_arrives_as_it_is_with_the_words_under_it() -> None:
    async with running() as server:
        await sends(server, EMMA, file=TEXT, text="see /here")
        (message,) = await heard(server)
        file = await server.bot.get_file(message["document"]["file_id"])
        content = bytes(await file.download_as_bytearray())
    assert (message["document"]["file_name"], message["document"]["mime_type"]) == ("slip.txt", "text/plain")
    assert (message["caption"], message["caption_entities"][0]["type"]) == ("see /here", "bot_command")
    assert content == b"paid"


async def test_what_somebody_deletes_is_gone_and_the_bot_is_not_told() -> None:
    async with running() as server:
        sent = await server.says(EMMA, "oops")
        await server.posts(f"/sandbox/chats/{EMMA}/delete", {"from": EMMA, "message_id": sent["message_id"]})
        updates = await server.hears()
        answer = {"text": "x", "reply_parameters": {"message_id": sent["message_id"]}}
        refused = (await server.calls("sendMessage", chat_id=EMMA, **answer)).json()
        seen = await server.sees(EMMA)
    assert ([len(update) for update in updates], updates[0]["message"]["text"], seen) == ([2], "oops", [])
    assert refused["description"] == "Bad Request: message to be replied not found"


async def test_what_is_forwarded_says_who_wrote_it_first() -> None:
    async with running() as server:
        talk = await server.says(RINA, "look", SUPPORT_GROUP_ID)
        source = {"chat_id": SUPPORT_GROUP_ID, "message_id": talk["message_id"]}
        first = await sends(server, OSCAR, forward=source)
        again = await sends(
            server, OSCAR, SUPPORT_GROUP_ID, forward={"chat_id": OSCAR, "message_id": first["message_id"]}
        )
        found = await heard(server)
    assert [message.get("forward_origin", {}).get("sender_user", {}).get("id") for message in found] == [
        None,
        RINA,
        RINA,
    ]
    assert (first["from"]["id"], first["text"], again["text"]) == (OSCAR, "look", "look")


async def test_in_a_closed_topic_only_administrators_write() -> None:
    async with running() as server:
        place = {"person": SARI, "status": "member"}
        await server.posts(f"/sandbox/chats/{SUPPORT_GROUP_ID}/members", place)
        topic = await server.bot.create_forum_topic(SUPPORT_GROUP_ID, "Ticket")
        await server.bot.close_forum_topic(SUPPORT_GROUP_ID, topic.message_thread_id)
        order = {"from": SARI, "text": "x", "thread_id": topic.message_thread_id}
        refused = await server.people.post(f"/sandbox/chats/{SUPPORT_GROUP_ID}/send", json=order)
        sent_message = await server.says(RINA, "x", SUPPORT_GROUP_ID, thread_id=topic.message_thread_id)
    assert refused.status_code == 409
    assert sent_message["message_thread_id"] == topic.message_thread_id


async def test_a_contact_arrives_as_it_was_shared() -> None:
    async with running() as server:
        await sends(server, EMMA, contact={"phone_number": "6281234567890", "first_name": "Siti", "user_id": 7, "x": 1})
        (message,) = await heard(server)
    assert message["contact"] == {"phone_number": "6281234567890", "first_name": "Siti", "user_id": 7}
    assert "text" not in message

"""The sandbox rejects what Telegram rejects, with the same code and text."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.sandbox.telegram_sandbox import EMMA, OSCAR, SARI, Running, running

NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a"
    " current content and reply markup of the message"
)


async def refusal(server: Running, method: str, **params: Any) -> tuple[int, str]:
    answer = await server.calls(method, **params)
    body = answer.json()
    assert body["ok"] is False
    assert body["error_code"] == answer.status_code
    return answer.status_code, body["description"]


def inline(**button: Any) -> dict[str, Any]:
    return {"inline_keyboard": [[{"text": "x", **button}]]}


@pytest.mark.parametrize(
    ("params", "description"),
    [
        ({"text": ""}, "message text is empty"),
        ({"text": "  \n "}, "text must be non-empty"),
        ({"text": "x" * 4097}, "message is too long"),
        ({"text": "x" * 32_769}, "text is too long"),
        (
            {"text": "<b>x", "parse_mode": "HTML"},
            "can't parse entities: Can't find end tag corresponding to start tag \"b\"",
        ),
        ({"reply_markup": inline(callback_data="é" * 33)}, "BUTTON_DATA_INVALID"),
        ({"reply_markup": inline(copy_text={"text": "x" * 257})}, "BUTTON_COPY_TEXT_INVALID"),
        (
            {"reply_markup": inline(url="lightning:lnbc1x")},
            "inline keyboard button URL 'lightning:lnbc1x' is invalid: Wrong port number specified in the URL",
        ),
        (
            {"reply_markup": inline(url="ftp://x.co")},
            "inline keyboard button URL 'ftp://x.co' is invalid: Unsupported URL protocol",
        ),
        (
            {"reply_markup": inline(url="http://localhost")},
            "inline keyboard button URL 'http://localhost' is invalid: Wrong HTTP URL",
        ),
        (
            {"reply_markup": inline(url="mailto:a@b.co")},
            "inline keyboard button URL 'mailto:a@b.co' is invalid: Wrong port number specified in the URL",
        ),
        (
            {"reply_markup": inline()},
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ),
        (
            {"reply_markup": {"inline_keyboard": ["x"]}},
            'field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays',
        ),
        (
            {"reply_markup": {"inline_keyboard": [[{"text": "x", "callback_data": "y"}] * 12] * 9}},
            "reply markup is too long",
        ),
        ({"reply_markup": "{"}, "can't parse reply markup JSON object"),
        ({"reply_parameters": {"message_id": 99}}, "message to be replied not found"),
        ({"chat_id": ""}, "chat_id is empty"),
        ({"chat_id": 77}, "chat not found"),
        ({"chat_id": SUPPORT_GROUP_ID, "message_thread_id": 5}, "message thread not found"),
    ],
)
async def test_a_message_that_telegram_refuses_is_refused(params: dict[str, Any], description: str) -> None:
    async with running() as server:
        await server.says(EMMA, "/start")
        sent = {"chat_id": EMMA, "text": "hello", **params}
        assert await refusal(server, "sendMessage", **sent) == (400, f"Bad Request: {description}")


async def test_what_is_exactly_at_the_limit_is_sent() -> None:
    buttons = [inline(callback_data="x" * 64), inline(copy_text={"text": "x" * 256}), inline(url="tg://resolve?x=1")]
    async with running() as server:
        await server.says(EMMA, "/start")
        for markup in buttons:
            answer = await server.calls("sendMessage", chat_id=EMMA, text="🙂" * 4096, reply_markup=markup)
            assert answer.json()["ok"], answer.text


async def test_who_never_wrote_or_has_blocked_the_bot_gets_nothing() -> None:
    async with running() as server:
        never = await refusal(server, "sendMessage", chat_id=SARI, text="hello")
        await server.says(SARI, "/start")
        sent = (await server.calls("sendMessage", chat_id=SARI, text="hello")).json()["result"]
        await server.people.patch(f"/sandbox/people/{SARI}", json={"blocked": True})
        blocked = await refusal(server, "sendMessage", chat_id=SARI, text="hello")
        edit = await refusal(server, "editMessageText", chat_id=SARI, message_id=sent["message_id"], text="x")
        updates = await server.hears()
    assert never == (403, "Forbidden: bot can't initiate conversation with a user")
    assert blocked == edit == (403, "Forbidden: bot was blocked by the user")
    assert updates[-1]["my_chat_member"]["new_chat_member"]["status"] == "kicked"


async def test_edits_are_refused_where_telegram_refuses_them() -> None:
    async with running() as server:
        asked = await server.says(EMMA, "/start")
        text = (await server.calls("sendMessage", chat_id=EMMA, text="hello")).json()["result"]["message_id"]
        keyboard = {"keyboard": [["a"]]}
        menu = (await server.calls("sendMessage", chat_id=EMMA, text="m", reply_markup=keyboard)).json()["result"]
        cases = {
            "same": {"message_id": text, "text": "hello"},
            "long": {"message_id": text, "text": "x" * 4097},
            "gone": {"message_id": 999, "text": "x"},
            "menu": {"message_id": menu["message_id"], "text": "x"},
            "theirs": {"message_id": asked["message_id"], "text": "x"},
            "keyboard": {"message_id": text, "text": "x", "reply_markup": keyboard},
        }
        found = {
            name: (await refusal(server, "editMessageText", chat_id=EMMA, **case))[1] for name, case in cases.items()
        }
        caption = await refusal(server, "editMessageCaption", chat_id=EMMA, message_id=text, caption="x")
    assert found == {
        "same": NOT_MODIFIED,
        "long": "Bad Request: MESSAGE_TOO_LONG",
        "gone": "Bad Request: message to edit not found",
        "menu": "Bad Request: message can't be edited",
        "theirs": "Bad Request: message can't be edited",
        "keyboard": "Bad Request: inline keyboard expected",
    }
    assert caption == (400, "Bad Request: there is no caption in the message to edit")


async def test_messages_can_be_deleted_for_48_hours() -> None:
    async with running() as server:
        asked = await server.says(EMMA, "/start")
        young = await server.calls("deleteMessage", chat_id=EMMA, message_id=asked["message_id"])
        old = await server.says(EMMA, "again")
        server.clock.pass_(hours=48, seconds=1)
        late = await refusal(server, "deleteMessage", chat_id=EMMA, message_id=old["message_id"])
        gone = await refusal(server, "deleteMessage", chat_id=EMMA, message_id=asked["message_id"])
    assert young.json()["result"] is True
    assert late == (400, "Bad Request: message can't be deleted for everyone")
    assert gone == (400, "Bad Request: message to delete not found")


async def test_a_press_can_be_answered_for_150_seconds() -> None:
    async with running() as server:
        await server.says(EMMA, "/start")
        sent = await server.calls("sendMessage", chat_id=EMMA, text="x", reply_markup=inline(callback_data="y"))
        number = sent.json()["result"]["message_id"]
        first = await server.presses(EMMA, number, "y")
        second = await server.presses(EMMA, number, "y")
        server.clock.pass_(seconds=150)
        in_time = await server.calls("answerCallbackQuery", callback_query_id=first["query_id"])
        server.clock.pass_(seconds=1)
        late = await refusal(server, "answerCallbackQuery", callback_query_id=second["query_id"])
        unknown = await refusal(server, "answerCallbackQuery", callback_query_id="1")
    words = "Bad Request: query is too old and response timeout expired or query ID is invalid"
    assert in_time.json()["result"] is True
    assert late == unknown == (400, words)


async def test_topics_are_refused_where_telegram_refuses_them() -> None:
    async with running() as server:
        topic = (await server.calls("createForumTopic", chat_id=SUPPORT_GROUP_ID, name="T")).json()["result"]
        place = {"chat_id": SUPPORT_GROUP_ID, "message_thread_id": topic["message_thread_id"]}
        same = await refusal(server, "editForumTopic", **place, name="T")
        unknown = await refusal(server, "closeForumTopic", chat_id=SUPPORT_GROUP_ID, message_thread_id=77)
        await server.says(EMMA, "/start")
        private = await refusal(server, "createForumTopic", chat_id=EMMA, name="T")
    assert same == (400, "Bad Request: TOPIC_NOT_MODIFIED")
    assert unknown == (400, "Bad Request: TOPIC_ID_INVALID")
    assert private == (400, "Bad Request: the chat is not a forum")


async def test_a_group_that_became_a_supergroup_says_where_it_went() -> None:
    async with running() as server:
        group = await server.posts("/sandbox/chats", {"title": "Old", "type": "group", "members": [OSCAR]})
        new = await server.posts(f"/sandbox/chats/{group['id']}/migrate", {})
        body = (await server.calls("sendMessage", chat_id=group["id"], text="x")).json()
        moved = [update["message"] for update in await server.hears() if "message" in update]
    assert body["description"] == "Bad Request: group chat was upgraded to a supergroup chat"
    assert body["parameters"] == {"migrate_to_chat_id": new["id"]}
    assert [message.get("migrate_to_chat_id") for message in moved] == [new["id"], None]
    assert moved[1]["migrate_from_chat_id"] == group["id"]

"""An unmodified python-telegram-bot calls every method of the sandbox and gets what the Bot API documents."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeChat,
    CopyTextButton,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InlineQueryResultArticle,
    InputMediaDocument,
    InputMediaPhoto,
    InputTextMessageContent,
    LinkPreviewOptions,
    ReplyKeyboardMarkup,
    ReplyParameters,
)
from telegram.constants import ChatAction, KeyboardButtonStyle, ParseMode

from bot.sandbox.bot_api.methods import SERVED
from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.pictures import png
from tests.sandbox.bot_api_schema import SCHEMA, problems
from tests.sandbox.telegram_sandbox import EMMA, OSCAR, Running, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx


@dataclass
class Call:
    method: str
    result: Any


@asynccontextmanager
async def recording(server: Running) -> AsyncIterator[list[Call]]:
    """Record all answers to the bot within the block."""
    calls: list[Call] = []

    async def note(response: httpx.Response) -> None:
        await response.aread()
        method = response.request.url.path.rpartition("/")[2]
        if "/file/" not in response.request.url.path:
            calls.append(Call(method, json.loads(response.content)["result"]))

    for request in server.bot._request:
        request._client.event_hooks["response"].append(note)  # type: ignore[attr-defined]
    yield calls


BUTTONS = InlineKeyboardMarkup(
    [
        [InlineKeyboardButton("Send", callback_data="send", style=KeyboardButtonStyle.SUCCESS)],
        [
            InlineKeyboardButton("Copy", copy_text=CopyTextButton("0812")),
            InlineKeyboardButton("Open", url="https://example.com"),
        ],
    ]
)


async def text_tour(server: Running) -> None:
    bot = server.bot
    asked = await server.says(EMMA, "/start https://example.com +62 812 3456 789 @kirim_sandbox_bot #rp")
    sent = await bot.send_message(
        EMMA,
        '<b>Rp 1.000</b> 🙂 <a href="https://example.com">link</a> <tg-time unix="1772366400" format="t">t</tg-time>',
        parse_mode=ParseMode.HTML,
        reply_markup=BUTTONS,
        reply_parameters=ReplyParameters(asked["message_id"]),
        link_preview_options=LinkPreviewOptions(is_disabled=True),
        disable_notification=True,
        protect_content=False,
    )
    await bot.send_message(EMMA, "choose", reply_markup=ReplyKeyboardMarkup([["a", "b"]], resize_keyboard=True))
    await bot.send_chat_action(EMMA, ChatAction.TYPING)
    await bot.edit_message_text("edited", EMMA, sent.message_id, reply_markup=BUTTONS)
    await bot.edit_message_reply_markup(EMMA, sent.message_id)
    await bot.set_message_reaction(EMMA, asked["message_id"], "👌")
    await bot.get_chat(EMMA)
    await bot.delete_message(EMMA, sent.message_id)


async def media_tour(server: Running) -> None:
    bot = server.bot
    photo = await bot.send_photo(EMMA, png(1500, 900), caption="<i>QR</i>", parse_mode="HTML")
    await bot.send_photo(EMMA, photo.photo[-1].file_id)
    document = await bot.send_document(EMMA, b"receipt", filename="receipt.txt", caption="Receipt")
    assert document.document is not None
    await bot.send_document(EMMA, document.document.file_id)
    await bot.edit_message_caption(EMMA, photo.message_id, caption="new")
    await bot.edit_message_media(InputMediaPhoto(png(64, 64), caption="small"), EMMA, photo.message_id)
    await bot.edit_message_media(InputMediaDocument(b"file"), EMMA, photo.message_id)
    file = await bot.get_file(document.document.file_id)
    assert bytes(await file.download_as_bytearray()) == b"receipt"


async def updates_tour(server: Running) -> None:
    bot = server.bot
    await bot.set_webhook("https://127.0.0.1:1/hook", secret_token="s3cret", allowed_updates=["message"])
    await bot.get_webhook_info()
    await bot.delete_webhook()
    await bot.get_updates(allowed_updates=[])
    shown = await bot.send_message(EMMA, "press", reply_markup=BUTTONS)
    await server.presses(EMMA, shown.message_id, "send")
    await server.presses(EMMA, 12_345, "gone", force=True)
    await server.people.patch(f"/sandbox/people/{EMMA}", json={"blocked": True})
    await server.people.patch(f"/sandbox/people/{EMMA}", json={"blocked": False})
    pressed = [update.callback_query for update in await bot.get_updates() if update.callback_query]
    assert len(pressed) == 2
    await bot.answer_callback_query(pressed[0].id, "done", show_alert=True)


async def group_tour(server: Running) -> None:
    bot = server.bot
    topic = await bot.create_forum_topic(SUPPORT_GROUP_ID, "Ticket 1")
    thread = topic.message_thread_id
    await bot.send_message(SUPPORT_GROUP_ID, "order", message_thread_id=thread)
    await server.says(OSCAR, "answer", SUPPORT_GROUP_ID, thread_id=thread)
    await bot.edit_forum_topic(SUPPORT_GROUP_ID, thread, name="Ticket 1, taken")
    await bot.close_forum_topic(SUPPORT_GROUP_ID, thread)
    await bot.reopen_forum_topic(SUPPORT_GROUP_ID, thread)
    await bot.get_chat(SUPPORT_GROUP_ID)
    await bot.get_updates()
    await bot.delete_forum_topic(SUPPORT_GROUP_ID, thread)


async def profile_tour(server: Running) -> None:
    bot = server.bot
    commands: list[BotCommand | tuple[str, str]] = [BotCommand("send", "Kirim rupiah"), ("rate", "Kurs")]
    await bot.set_my_commands(commands, BotCommandScopeAllPrivateChats(), language_code="id")
    assert [c.command for c in await bot.get_my_commands(BotCommandScopeAllPrivateChats(), "id")] == ["send", "rate"]
    await bot.set_my_commands(commands, BotCommandScopeChat(EMMA))
    await bot.set_my_description("What it does")
    await bot.set_my_short_description("Short")
    await bot.get_me()


async def inline_tour(server: Running) -> None:
    waiting = asyncio.create_task(
        server.posts(f"/sandbox/chats/{EMMA}/inline", {"from": EMMA, "query": "500rb", "timeout": 5})
    )
    query = None
    while query is None:
        found = await server.bot.get_updates(timeout=5)
        query = next((update.inline_query for update in found if update.inline_query), None)
    text = InputTextMessageContent("Pay me")
    await server.bot.answer_inline_query(query.id, [InlineQueryResultArticle("1", "Rp500,000", text)], cache_time=0)
    assert (await waiting)["answered"]


async def test_every_method_answers_python_telegram_bot_as_the_bot_api_documents() -> None:
    async with running() as server, recording(server) as calls:
        for tour in (text_tour, media_tour, updates_tour, group_tour, inline_tour, profile_tour):
            await tour(server)
    assert {call.method.lower() for call in calls} == set(SERVED)
    wrong = [
        problem
        for call in calls
        for problem in problems(call.result, SCHEMA["methods"][call.method]["returns"], call.method)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(SERVED))
def test_every_served_method_is_one_that_the_bot_api_and_the_library_know(name: str) -> None:
    assert name in {each.lower() for each in SCHEMA["methods"]}
    assert name in {each.lower() for each in dir(Bot)}

"""An unmodified python-telegram-bot application runs on the sandbox, by polling and by webhook."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, Update
from telegram.ext import Application, CallbackQueryHandler, CommandHandler, ContextTypes
from telegram.request import HTTPXRequest

from tests.sandbox.serving import serving
from tests.sandbox.telegram_sandbox import EMMA, Running, running
from tests.waiting import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

KEYBOARD = InlineKeyboardMarkup([[InlineKeyboardButton("More", callback_data="more")]])


async def start(update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
    assert update.message is not None
    await update.message.reply_html("<b>Welcome</b>", reply_markup=KEYBOARD)


async def more(update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
    assert update.callback_query is not None
    await update.callback_query.answer("Here you are")
    await update.callback_query.edit_message_text("More")


@asynccontextmanager
async def application(server: Running) -> AsyncIterator[Any]:
    requests = [HTTPXRequest(httpx_kwargs={"trust_env": False}) for _ in range(2)]
    builder = Application.builder().token(server.settings.bot_token).base_url(f"{server.url}/bot")
    app = builder.request(requests[0]).get_updates_request(requests[1]).build()
    app.add_handlers([CommandHandler("start", start), CallbackQueryHandler(more)])
    async with app:
        await app.start()
        try:
            yield app
        finally:
            await app.stop()


async def a_conversation(server: Running) -> None:
    """Let Emma start the bot, press a button, and see the message change."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await server.says(EMMA, "/start")
        welcome = await next_message(server)
        pressed = await server.presses(EMMA, welcome["message_id"], "more", timeout=TIMEOUT_SECONDS)
        assert (pressed["answered"], pressed["text"]) == (True, "Here you are")
        await seen(server, "edit")
    shown = (await server.sees(EMMA))[-1]
    assert (shown["text"], "reply_markup" in shown) == ("More", False)


async def seen(server: Running, kind: str) -> None:
    """Wait until the users have seen this action of the bot."""
    async with server.people.stream("GET", "/sandbox/events?after=0") as stream:
        async for line in stream.aiter_lines():
            if f'"type": "{kind}"' in line and '"outgoing": true' in line:
                return


async def next_message(server: Running) -> dict[str, Any]:
    await seen(server, "message")
    return (await server.sees(EMMA))[-1]


async def test_an_application_polls_answers_and_stops() -> None:
    async with running() as server, application(server) as app:
        await app.updater.start_polling(timeout=2)
        await a_conversation(server)
        await app.updater.stop()
        assert await server.hears() == []


async def test_an_application_works_behind_a_webhook() -> None:
    async with running() as server, application(server) as app:

        async def hook(request: Request) -> Response:
            await app.update_queue.put(Update.de_json(await request.json(), app.bot))
            return Response()

        async with serving(Starlette(routes=[Route("/hook", hook, methods=["POST"])])) as url:
            await app.bot.set_webhook(f"{url}/hook")
            await a_conversation(server)
            await app.bot.delete_webhook()

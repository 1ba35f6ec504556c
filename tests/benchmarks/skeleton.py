"""One bot skeleton for all comparisons: a conversation in which each step waits for the service.

The measurements differ only in how updates are received and how answers are sent.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from telegram import Update
from telegram.ext import (
    Application,
    ApplicationBuilder,
    CommandHandler,
    ContextTypes,
    ConversationHandler,
    MessageHandler,
    filters,
)
from telegram.request import BaseRequest, RequestData

TOKEN = "424242:benchmark-token-not-secret-AAAAAAAAAAAAAA"
QUESTIONS = ("Where to?", "Which number?", "How much?", "Please check.")
TEXTS = ("/send", "bca", "1234567890", "500rb")
"""A complete conversation. The bot answers each message once."""

ME = {"id": 424242, "is_bot": True, "first_name": "Skeleton", "username": "skeleton_bot"}
Context = ContextTypes.DEFAULT_TYPE
App = Application[Any, Any, Any, Any, Any, Any]
Json = dict[str, Any]


class OfflineRequest(BaseRequest):
    """Telegram without a network. Every call succeeds at once. `on_answer` gets the chat of each message."""

    def __init__(self, on_answer: Callable[[int], None]) -> None:
        self._on_answer = on_answer

    @property
    def read_timeout(self) -> float | None:
        """Return None: no time-out is needed."""
        return None

    async def initialize(self) -> None:
        """Do nothing: there is no connection."""

    async def shutdown(self) -> None:
        """Do nothing: there is no connection."""

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *_: object, **__: object
    ) -> tuple[int, bytes]:
        """Answer like the Bot API."""
        del method
        parameters = request_data.parameters if request_data else {}
        if urlsplit(url).path.endswith("/getMe"):
            return 200, _ok(ME)
        chat_id = int(str(parameters["chat_id"]))
        self._on_answer(chat_id)
        return 200, _ok(message(chat_id, 1, str(parameters["text"]), sender=ME))


def with_conversation(application: App, service_seconds: float) -> App:
    """Add the conversation. Each step waits `service_seconds` for the service, and then answers."""
    text = filters.TEXT & ~filters.COMMAND
    application.add_handler(
        ConversationHandler(
            entry_points=[CommandHandler("send", _step(None, service_seconds))],
            states={n: [MessageHandler(text, _step(n, service_seconds))] for n in range(len(QUESTIONS) - 1)},
            fallbacks=[],
            allow_reentry=True,
        )
    )
    return application


def offline(on_answer: Callable[[int], None], service_seconds: float, *, concurrent: int = 0) -> App:
    """Return the skeleton without a network. The benchmark passes the updates."""
    request = OfflineRequest(on_answer)
    builder = ApplicationBuilder().token(TOKEN).request(request).get_updates_request(request).updater(None)
    return with_conversation(builder.concurrent_updates(concurrent or False).build(), service_seconds)


def answers_of(application: App, user_id: int) -> tuple[str, ...]:
    """Return the answers of a user that the conversation has saved."""
    return tuple(application.user_data[user_id].get("answers", ()))


def update(update_id: int, chat_id: int, text: str) -> Json:
    """Return the update with a private message."""
    sender = {"id": chat_id, "is_bot": False, "first_name": f"Person {chat_id}", "language_code": "en"}
    return {"update_id": update_id, "message": message(chat_id, update_id, text, sender=sender)}


def message(chat_id: int, message_id: int, text: str, *, sender: Json) -> Json:
    """Return a Message object."""
    chat = {"id": chat_id, "type": "private", "first_name": f"Person {chat_id}"}
    made = {"message_id": message_id, "date": 1_767_225_600, "chat": chat, "from": sender, "text": text}
    if text.startswith("/"):
        made["entities"] = [{"type": "bot_command", "offset": 0, "length": len(text)}]
    return made


def _step(state: int | None, service_seconds: float) -> Callable[[Update, Context], Any]:
    following = 0 if state is None else state + 1

    async def take(update: Update, context: Context) -> int:
        incoming, user = update.effective_message, context.user_data
        if incoming is None or user is None:
            raise TypeError("the skeleton understands messages only")
        known = list(user.get("answers", ())) if state is not None else []
        if service_seconds:
            await asyncio.sleep(service_seconds)
        user["answers"] = known + ([incoming.text] if state is not None else [])
        await incoming.reply_text(QUESTIONS[following])
        return following if following < len(QUESTIONS) - 1 else ConversationHandler.END

    return take


def _ok(result: object) -> bytes:
    return json.dumps({"ok": True, "result": result}).encode()

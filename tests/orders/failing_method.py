"""A Bot API of which one method fails for hours, with the bot's real limiter and messenger before it."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from telegram import Chat, Message
from telegram.error import BadRequest

from bot.infra.telegram.outbound.limiter import SendLimiter
from bot.infra.telegram.outcomes import ServerError, SlowDown, Unanswered
from tests.orders import simulation
from tests.orders.simulation import NOTIFICATION, UNDELETABLE_AFTER, FakeTelegram
from tests.settlement.fake_settlement import MovedClock

TIMEOUT_SECONDS: Final = 30.0
METHODS: Final = (
    "deleteMessage",
    "editMessageText",
    "editMessageCaption",
    "editMessageMedia",
    "sendPhoto",
    "sendMessage",
    "answerCallbackQuery",
)


class Failure(StrEnum):
    """How the method fails."""

    SLOW_DOWN = "429 for seconds"
    LONG_PAUSE = "429 for an hour"
    SERVER_ERROR = "500"
    REJECTION = "400"
    NO_ANSWER = "no answer, after it was done"
    HANGS = "no answer, and nothing was done"


@dataclass(frozen=True, slots=True)
class MethodFault:
    """A method that fails from `begins` until `ends`."""

    method: str
    failure: Failure
    begins: datetime
    ends: datetime


class FailingBot:
    """The methods of python-telegram-bot's bot that the messenger calls."""

    username = "kirim_bot"

    def __init__(self, clock: MovedClock, telegram: FakeTelegram, fault: MethodFault) -> None:
        self._clock, self._telegram, self._fault = clock, telegram, fault
        self._limiter = SendLimiter()

    async def send_message(self, chat_id: int, html: str, **known: Any) -> Any:
        return await self._call("sendMessage", chat_id, known, lambda: self._send(chat_id, html, None))

    async def send_photo(self, chat_id: int, photo: bytes, **known: Any) -> Any:
        return await self._call("sendPhoto", chat_id, known, lambda: self._send(chat_id, known["caption"], photo))

    async def edit_message_text(self, html: str, chat_id: int, message_id: int, **known: Any) -> Any:
        def edit() -> Message:
            message = self._find(chat_id, message_id, "edit")
            if message.picture is not None:
                raise BadRequest("There is no text in the message to edit")
            message.html = html
            return self._answer(message_id, chat_id)

        return await self._call("editMessageText", chat_id, known, edit)

    async def edit_message_caption(self, chat_id: int, message_id: int, **known: Any) -> Any:
        def edit() -> Message:
            message = self._find(chat_id, message_id, "edit")
            if message.picture is None:
                raise BadRequest("There is no caption in the message to edit")
            message.html = known["caption"]
            return self._answer(message_id, chat_id)

        return await self._call("editMessageCaption", chat_id, known, edit)

    async def edit_message_media(self, media: Any, chat_id: int, message_id: int, **known: Any) -> Any:
        def edit() -> Message:
            message = self._find(chat_id, message_id, "edit")
            message.picture, message.html = media.media.input_file_content, media.caption
            return self._answer(message_id, chat_id)

        return await self._call("editMessageMedia", chat_id, known, edit)

    async def delete_message(self, chat_id: int, message_id: int, **known: Any) -> Any:
        def delete() -> bool:
            message = self._find(chat_id, message_id, "delete")
            if self._clock.now() - message.at > UNDELETABLE_AFTER:
                raise BadRequest("Message can't be deleted for everyone")
            message.is_deleted = True
            return True

        return await self._call("deleteMessage", chat_id, known, delete)

    async def answer_callback_query(self, *_: Any, **known: Any) -> Any:
        return await self._call("answerCallbackQuery", None, known, lambda: True)

    async def _call(self, method: str, chat_id: int | None, known: dict[str, Any], do: Callable[[], Any]) -> Any:
        callback: Callable[[], Coroutine[Any, Any, Any]] = lambda: self._try(method, do)  # noqa: E731  a closure
        data = {} if chat_id is None else {"chat_id": chat_id}
        return await self._limiter.process_request(callback, (), {}, method, data, known.get("rate_limit_args"))

    async def _try(self, method: str, do: Callable[[], Any]) -> Any:
        fails = method == self._fault.method and self._fault.begins <= self._clock.now() < self._fault.ends
        match self._fault.failure if fails else None:
            case Failure.SLOW_DOWN:
                raise SlowDown(5)
            case Failure.LONG_PAUSE:
                raise SlowDown(3600)
            case Failure.SERVER_ERROR:
                raise ServerError("Internal Server Error")
            case Failure.REJECTION:
                raise BadRequest("BUTTON_DATA_INVALID")
            case Failure.NO_ANSWER:
                do()
                raise Unanswered("no answer")
            case Failure.HANGS:
                await asyncio.sleep(TIMEOUT_SECONDS)
                raise Unanswered("no answer")
        return do()

    def _send(self, chat_id: int, html: str, picture: bytes | None) -> Message:
        sending = NOTIFICATION.get()
        assert sending is not None
        number = len(self._telegram.messages) + 1
        message = simulation.Message(number, chat_id, html, picture, self._clock.now(), *sending)
        self._telegram.messages.append(message)
        return self._answer(number, chat_id)

    def _find(self, chat_id: int, message_id: int, act: str) -> simulation.Message:
        found = (each for each in self._telegram.messages if (each.id, each.chat_id) == (message_id, chat_id))
        message = next((each for each in found if not each.is_deleted), None)
        if message is None:
            raise BadRequest(f"Message to {act} not found")
        return message

    def _answer(self, message_id: int, chat_id: int) -> Message:
        return Message(message_id, self._clock.now(), Chat(chat_id, "private"))

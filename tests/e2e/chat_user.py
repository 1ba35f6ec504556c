"""A user of an end-to-end test: writes, sends files, presses buttons, and waits for messages."""

import asyncio
import base64
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import chain
from typing import Any

import httpx

from tests.texts import ANYTHING
from tests.waiting import TIMEOUT_SECONDS

CHANGED_WITHIN = 1.0
"""Somebody who waits is told at once when something happens in the chat; every so often they look all the same."""

AT_ONCE = 4
"""Presses in the air: more of them take the client longer to keep account of than the bot to answer."""

Json = dict[str, Any]


class NotSeen(AssertionError):
    """A message that a user waited for did not come."""

    def __init__(self, awaited: str, chat_id: int) -> None:
        super().__init__(f"{awaited}, in chat {chat_id}")
        self.chat_id = chat_id


class ChatUser:
    """A user in their private chat with the bot, or in the group `chat_id`."""

    def __init__(self, http: httpx.AsyncClient, user_id: int, chat_id: int | None = None) -> None:
        self._http = http
        self.id = user_id
        self.chat_id = chat_id or user_id
        self._known: set[tuple[int, str, str]] = set()
        self._seen_until: int | None = None
        self._messages: dict[int, Json] = {}
        """The chat as it was then."""
        self._shown: list[Json] = []
        """What was shown since the last act, or else the first look, as it was then."""

    async def messages(self, **how: float) -> list[Json]:
        """Return all messages in the chat, oldest first. `how` is passed on to the sandbox."""
        since = {} if self._seen_until is None else {"shown_after": self._seen_until, "changes_only": 1}
        where = f"/sandbox/chats/{self.chat_id}/messages"
        answer = await self._http.get(where, params={"limit": 500, **since, **how})
        told: Json = answer.raise_for_status().json()
        if told["seq"] > (self._seen_until or 0):  # answers to simultaneous requests can arrive in another order
            self._seen_until = told["seq"]
            self._shown += told.get("shown", ())
            self._keep(told)
        return [message for _, message in sorted(self._messages.items())]

    def _keep(self, told: Json) -> None:
        if "messages" in told:
            self._messages = {message["message_id"]: message for message in told["messages"]}
            return
        self._messages |= {message["message_id"]: message for message in told["shown"]}
        for message_id in told["deleted"]:
            self._messages.pop(message_id, None)

    async def looks(self) -> AsyncIterator[list[Json]]:
        """Yield all messages in the chat now, and again after each change, until the time is up."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        yield await self.messages()
        while time.monotonic() < deadline:
            yield await self.messages(changed_after=self._seen_until or 0, changed_within=CHANGED_WITHIN)

    async def says(self, text: str, *, reply_to: Json | None = None, topic: int | None = None) -> Json:
        """Send a text, possibly as a reply. After it, `sees` finds only newer messages."""
        topic = topic or (reply_to or {}).get("message_thread_id")
        return await self.sends(text=text, reply_to=reply_to and reply_to["message_id"], thread_id=topic)

    async def sends(self, **what: object) -> Json:
        """Send anything that a user can send: see `bot/sandbox/bot_api/people.py`."""
        await self._remember()
        return await self._sends(**what)

    async def says_all(self, lines: Iterable[str]) -> None:
        """Send texts one after another, without waiting for answers."""
        await self._remember()
        for line in lines:
            await self._sends(text=line)

    async def _sends(self, **what: object) -> Json:
        answer = await self._http.post(f"/sandbox/chats/{self.chat_id}/send", json={"from": self.id, **what})
        message: Json = answer.raise_for_status().json()["message"]
        return message

    async def sends_photo(self, picture: bytes, text: str = "", **how: Any) -> Json:
        """Send a picture with a caption. `reply_to` and `topic` are as in `says`, `album` as in the sandbox."""
        return await self._sends_file({"picture": as_base64(picture)}, text, **how)

    async def sends_document(self, name: str, content: bytes, text: str = "", **how: Any) -> Json:
        """Send a file. The parameters are as in `sends_photo`."""
        return await self._sends_file({"file": {"name": name, "content": as_base64(content)}}, text, **how)

    async def _sends_file(
        self, what: Json, text: str, *, reply_to: Json | None = None, topic: int | None = None, **more: object
    ) -> Json:
        topic = topic or (reply_to or {}).get("message_thread_id")
        place = {"reply_to": reply_to and reply_to["message_id"], "thread_id": topic}
        return await self.sends(text=text, **what, **place, **more)

    async def forwards(self, message: Json, **how: object) -> Json:
        """Forward a message of any chat to this one. `topic` is as in `says`."""
        source = {"chat_id": message["chat"]["id"], "message_id": message["message_id"]}
        return await self.sends(forward=source, thread_id=how.get("topic"))

    async def forwards_of(self, user: "ChatUser", text: str) -> Json:
        """Forward a text of another user."""
        return await self.sends(forward_from=user.id, text=text)

    async def edits(self, message: Json, text: str) -> None:
        """Edit one's own message or caption."""
        await self._acts("edit", message_id=message["message_id"], text=text)

    async def deletes(self, message: Json) -> None:
        """Delete one's own message for everyone. Bots aren't notified of it."""
        await self._acts("delete", message_id=message["message_id"])

    async def _acts(self, act: str, **what: object) -> None:
        await self._remember()
        answer = await self._http.post(f"/sandbox/chats/{self.chat_id}/{act}", json={"from": self.id, **what})
        answer.raise_for_status()

    async def finds(self, message: Json) -> Json | None:
        """Return a message as it is now, or None if it was deleted."""
        return next((each for each in await self.messages() if each["message_id"] == message["message_id"]), None)

    async def reaction(self, message: Json) -> str:
        """Return the bot's reaction to a message, or an empty string."""
        return _reaction(await self.messages(), message)

    async def sees_reaction(self, message: Json, emoji: str) -> None:
        """Wait until the bot's reaction to a message is `emoji`. An empty string means no reaction."""
        seen = ""
        async for messages in self.looks():
            if (seen := _reaction(messages, message)) == emoji:
                return
        raise NotSeen(f"no {emoji!r} under {text_of(message)!r}, but {seen!r}", self.chat_id)

    async def taps(self, label: str, *, message: Json | None = None, wait: float = TIMEOUT_SECONDS) -> Json:
        """Press the newest button whose label contains `label`, and return the answer."""
        button_on, button = await self._find_button(label, message)
        return await self.presses(button_on, button["callback_data"], wait=wait)

    async def presses(self, message: Json, data: str, *, wait: float = TIMEOUT_SECONDS, force: bool = False) -> Json:
        """Press a button by its data, as a double tap or an old message would."""
        await self._remember()
        return await self._presses(message, data, wait=wait, force=force)

    async def presses_all(self, message: Json, pressed: Iterable[str], *, wait: float = TIMEOUT_SECONDS) -> list[Json]:
        """Press all these buttons at once, also ones that aren't there, and return the answers in order."""
        await self._remember()
        few = asyncio.Semaphore(AT_ONCE)

        async def presses(data: str) -> Json:
            async with few:
                return await self._presses(message, data, wait=wait, force=True)

        return await asyncio.gather(*map(presses, pressed))

    async def _presses(self, message: Json, data: str, *, wait: float, force: bool) -> Json:
        answer = await self._http.post(
            f"/sandbox/chats/{self.chat_id}/press",
            json={"from": self.id, "message_id": message["message_id"], "data": data, "timeout": wait, "force": force},
            timeout=wait + TIMEOUT_SECONDS,
        )
        result: Json = answer.raise_for_status().json()
        return result

    async def types_inline(self, query: str) -> Json:
        """Type an inline query in this chat, and return the bot's answer."""
        answer = await self._http.post(
            f"/sandbox/chats/{self.chat_id}/inline",
            json={"from": self.id, "query": query, "timeout": TIMEOUT_SECONDS},
            timeout=2 * TIMEOUT_SECONDS,
        )
        result: Json = answer.raise_for_status().json()
        return result

    async def sends_result(self, answer: Json, title: str) -> Json:
        """Send the result of an inline query whose title contains `title`, and return the message."""
        (found,) = [each for each in answer["results"] if title in each["title"]]
        await self._remember()
        chosen = {"from": self.id, "query_id": answer["query_id"], "result_id": found["id"]}
        sent = await self._http.post(f"/sandbox/chats/{self.chat_id}/choose", json=chosen)
        result: Json = sent.raise_for_status().json()["message"]
        return result

    async def sees(self, text: str, *, anywhere: bool = False) -> Json:
        """Wait for a message of someone else that matches `text`, sent or edited since the last action.

        A message that has changed again since is returned as it was. A message that only lost its buttons isn't new:
        the bot removes those of an answered question at any time.
        """
        return await self.waits_for(lambda message: _has(message, text), anywhere=anywhere, what=text)

    async def waits_for(self, fits: Callable[[Json], bool], *, anywhere: bool = False, what: str = "it") -> Json:
        """Wait for a message of someone else that `fits`. The rest is as in `sees`."""
        messages: list[Json] = []
        async for messages in self.looks():
            stands, stood = ((message, anywhere) for message in reversed(messages)), reversed(self._shown)
            for message, is_welcome in chain(stands, ((message, False) for message in stood)):
                is_own = message["from"]["id"] == self.id
                if not is_own and (is_welcome or self._is_new(message)) and fits(message):
                    return message
        raise NotSeen(f"no {what!r}; the last message is {text_of(messages[-1]) if messages else ''!r}", self.chat_id)

    async def sees_times(self, count: int, text: str) -> None:
        """Wait until exactly `count` messages match `text`."""
        seen = 0
        async for messages in self.looks():
            if (seen := _count(messages, text)) == count:
                return
        raise NotSeen(f"{text!r} is there {seen} times instead of {count}", self.chat_id)

    async def count(self, text: str) -> int:
        """Return how many messages match `text` now."""
        return _count(await self.messages(), text)

    async def buttons(self) -> list[str]:
        """Return the labels of the newest message with buttons."""
        for message in reversed(await self.messages()):
            if labels := [button["text"] for button in _buttons(message)]:
                return labels
        return []

    async def reads(self, *, last: int = 1) -> list[str]:
        """Return the texts of the newest messages."""
        return [text_of(message) for message in (await self.messages())[-last:]]

    async def button(self, label: str) -> tuple[Json, str]:
        """Return the newest message with this button, and the button's data, to press it later."""
        message, button = await self._find_button(label, None)
        return message, str(button["callback_data"])

    async def labels_of(self, message: Json) -> list[str]:
        """Return the labels of a message's current buttons."""
        for current in await self.messages():
            if current["message_id"] == message["message_id"]:
                rows = (current.get("reply_markup") or {}).get("inline_keyboard", [])
                return [button["text"] for row in rows for button in row]
        return []

    async def shares_contact(self, number: str, name: str = "", **more: object) -> None:
        """Share a contact."""
        await self.sends(contact={"phone_number": number, "first_name": name, **more})

    async def sends_a_sticker(self) -> None:
        """Send a sticker, which the bot can't read."""
        await self._remember()
        answer = await self._http.post(f"/sandbox/chats/{self.chat_id}/send", json={"from": self.id, "sticker": True})
        answer.raise_for_status()

    async def scans(self, message: Json) -> bytes:
        """Return the picture of a message."""
        answer = await self._http.get(f"/sandbox/files/{message['photo'][-1]['file_id']}")
        return answer.raise_for_status().content

    async def speaks(self, language: str) -> None:
        """Change the language of the user's app."""
        await self._change({"language_code": language})

    async def blocks(self, *, blocked: bool = True) -> None:
        """Block or unblock the bot."""
        await self._change({"blocked": blocked})

    async def _change(self, body: Json) -> None:
        (await self._http.patch(f"/sandbox/people/{self.id}", json=body)).raise_for_status()

    async def _remember(self) -> None:
        messages = await self.messages()
        # Remember each message also without its buttons.
        self._known = {_shape(each) for message in messages for each in (message, {**message, "reply_markup": None})}
        self._shown.clear()

    def _is_new(self, message: Json) -> bool:
        return _shape(message) not in self._known

    async def _find_button(self, label: str, message: Json | None) -> tuple[Json, Json]:
        async for messages in self.looks():
            for candidate in [message] if message else reversed(messages):
                for button in _buttons(candidate):
                    if label in button["text"] and "callback_data" in button:
                        return candidate, button
        raise NotSeen(f"no button {label!r}; there is {await self.buttons()}", self.chat_id)


def text_of(message: Json) -> str:
    """Return a message's text or caption."""
    return str(message.get("text") or message.get("caption") or "")


def _count(messages: Iterable[Json], text: str) -> int:
    return sum(_has(message, text) for message in messages)


def _has(message: Json, text: str) -> bool:
    # Anything at the start of a pattern changes no result, but would be tried again at each character of a long text.
    return re.search(text.removeprefix(ANYTHING), text_of(message)) is not None


def _reaction(messages: Iterable[Json], to: Json) -> str:
    found = (each for each in messages if each["message_id"] == to["message_id"])
    return "".join(next(found, {}).get("sandbox", {}).get("reactions", []))


def _buttons(message: Json) -> list[Json]:
    rows = (message.get("reply_markup") or {}).get("inline_keyboard", [])
    return [button for row in rows for button in row]


def _shape(message: Json) -> tuple[int, str, str]:
    return message["message_id"], text_of(message), str(message.get("reply_markup"))


def as_base64(content: bytes) -> str:
    """Return a file in the form that the sandbox accepts."""
    return base64.b64encode(content).decode()

"""The state of the sandbox's Telegram: in memory, and saved between starts. Callers never wait for the disk.

Changes are noted by kind and key and written in batches, off the event loop. A record is serialised when its batch is
written, so a message edited ten times in between is written once.

It also remembers what the bot asks users to pay: the invoice or the deposit in a message, and the order's reference.
The settlement service knows neither the user nor the reference. The chat page shows both with an order, also after the
bot has changed or deleted the message.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import threading
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import structlog

from bot.sandbox.bot_api.model import (
    Chat,
    JsonObject,
    PendingUpdate,
    Person,
    Press,
    ServerState,
    StoredFile,
    StoredMessage,
    Topic,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bot.sandbox.bot_api.model import JsonObject, TelegramSandboxSettings

log = structlog.get_logger(__name__)

FLUSH_SECONDS = 0.2
_SCHEMA = """
CREATE TABLE IF NOT EXISTS records (kind TEXT, key TEXT, body TEXT NOT NULL, PRIMARY KEY (kind, key));
CREATE TABLE IF NOT EXISTS blobs (key TEXT PRIMARY KEY, content BLOB NOT NULL);
"""
_SAVE = """
INSERT INTO records (kind, key, body) VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body
"""


class Journal:
    """Saves records and bytes in a SQLite file, which it creates. Without a path, it keeps them in memory."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._database = sqlite3.connect(":memory:" if path is None else path, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.executescript(_SCHEMA)
        self._is_saved = path is not None
        self._changed: dict[tuple[str, str], object] = {}
        self._blobs: dict[str, bytes] = {}

    def put(self, kind: str, key: str, record: object) -> None:
        """Note that a record has changed. It is read when it is written. None deletes it."""
        if self._is_saved:
            self._changed[kind, key] = record

    def put_blob(self, key: str, content: bytes) -> None:
        """Save bytes. They can be read at once."""
        self._blobs[key] = content

    def blob(self, key: str) -> bytes | None:
        """Return the bytes saved under a key."""
        if key in self._blobs:
            return self._blobs[key]
        with self._lock:
            row = self._database.execute("SELECT content FROM blobs WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def records(self) -> Iterator[tuple[str, str, Any]]:
        """Return all records as (kind, key, JSON), in the order in which they were first written."""
        with self._lock:
            rows = self._database.execute("SELECT kind, key, body FROM records ORDER BY rowid").fetchall()
        return ((kind, key, json.loads(body)) for kind, key, body in rows)

    async def flush(self) -> None:
        """Write the noted changes in one transaction, on another thread."""
        if not self._changed and not self._blobs:
            return
        noted, self._changed = self._changed, {}
        blobs = dict(self._blobs)
        try:
            await asyncio.to_thread(self._write, _serialise(noted), blobs)
        except BaseException:
            self._changed = {**noted, **self._changed}
            raise
        for key in blobs:
            del self._blobs[key]

    def close(self) -> None:
        """Write the noted changes and close the file."""
        self._write(_serialise(self._changed), self._blobs)
        self._database.close()

    def _write(self, changed: list[tuple[str, str, str | None]], blobs: dict[str, bytes]) -> None:
        with self._lock, self._database:
            for kind, key, body in changed:
                if body is None:
                    self._database.execute("DELETE FROM records WHERE kind = ? AND key = ?", (kind, key))
                else:
                    self._database.execute(_SAVE, (kind, key, body))
            self._database.executemany("INSERT OR REPLACE INTO blobs VALUES (?, ?)", blobs.items())


def _serialise(noted: dict[tuple[str, str], object]) -> list[tuple[str, str, str | None]]:
    return [
        (kind, key, None if record is None else json.dumps(record, default=vars, ensure_ascii=False))
        for (kind, key), record in noted.items()
    ]


async def keep_flushing(journal: Journal) -> None:
    """Flush forever, a few times per second. A failed write is retried."""
    while True:
        await asyncio.sleep(FLUSH_SECONDS)
        try:
            await journal.flush()
        except sqlite3.Error as error:
            log.warning("state_not_saved", error=str(error))


_INVOICE: Final = re.compile(r"ln(?:bcrt|bc|tbs|tb)\d*[munp]?1[02-9ac-hj-np-z]{100,}", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{40}", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"\d+(?:\.\d+)?")
# The first line about an order ends with its reference: "Rp500,000 → BCA ••••7890 · ABC2345".
_REFERENCE: Final = re.compile(r"· ?([0-9A-Z]{4,16})\s*$", re.MULTILINE)
_SATS_IN_BITCOIN: Final = 10**8


@dataclass
class PaymentRequest:
    """A message that asks for a payment. `payment` is the invoice in small letters, or "<address> <sats>"."""

    payment: str
    chat_id: int
    reference: str


def find_payment_request(message: StoredMessage) -> PaymentRequest | None:
    """Return what a message of the bot asks to pay, or None."""
    text = str(message.body.get("text") or message.body.get("caption") or "")
    reference = _REFERENCE.search(text) if message.outgoing else None
    if reference is None:
        return None
    invoice = _INVOICE.search(text)
    payment = invoice[0].lower() if invoice else _find_deposit(message.body)
    return None if payment is None else PaymentRequest(payment, message.chat_id, reference[1])


def _find_deposit(body: JsonObject) -> str | None:
    """Return the address and the sats that the buttons of a message copy."""
    copied = list(_read_copy_buttons(body))
    address = next((text for text in copied if _ADDRESS.fullmatch(text)), None)
    amount = next((text for text in copied if _AMOUNT.fullmatch(text)), None)
    if address is None or amount is None:
        return None
    return f"{address.lower()} {int(Decimal(amount) * _SATS_IN_BITCOIN)}"


def _read_copy_buttons(body: JsonObject) -> Iterator[str]:
    for row in body.get("reply_markup", {}).get("inline_keyboard", ()):
        for button in row:
            if "copy_text" in button:
                yield button["copy_text"]["text"]


FIRST_PERSON_ID = 5001

NEVER_AGAIN = 1_000
"""How many numbers a start passes over. A kill may have lost the last ones, and the bot ignores those that it knows."""


class World:
    """Users, chats, messages, files and presses, by their ids."""

    def __init__(self, settings: TelegramSandboxSettings, journal: Journal) -> None:
        self.settings = settings
        self.journal = journal
        self.pending_updates: list[PendingUpdate] = []
        self.people: dict[int, Person] = {}
        self.chats: dict[int, Chat] = {}
        self.messages: dict[int, dict[int, StoredMessage]] = {}
        self.files: dict[str, StoredFile] = {}
        self.presses: dict[str, Press] = {}
        self.payment_requests: dict[str, PaymentRequest] = {}
        self.state = ServerState()
        for kind, _, record in journal.records():
            self._restore(kind, record)
        self._add_missing()
        self.save_state()

    def _add_missing(self) -> None:
        """Add missing users and groups of the settings."""
        for person in self.settings.people:
            if person.id not in self.people:
                self.add_person(Person(**vars(person)))
        for group in self.settings.groups:
            if group.id not in self.chats:
                bot = {self.settings.bot_id: "administrator"} if group.has_bot else {}
                statuses = {**group.statuses, **bot}
                self.add_chat(Chat(**{**vars(group), "statuses": statuses, "topics": {}}))

    def _restore(self, kind: str, record: Any) -> None:  # noqa: ANN401  a record of any kind
        match kind:
            case "server":
                self.state = ServerState(**record)
                self.state.last_event += NEVER_AGAIN
                self.state.last_update_id += NEVER_AGAIN
                self.state.last_message_id += NEVER_AGAIN
            case "person":
                self.people[record["id"]] = Person(**record)
            case "chat":
                self._restore_chat(record)
            case "message":
                message = StoredMessage(**record)
                self.messages.setdefault(message.chat_id, {})[message.message_id] = message
            case "file":
                self.files[record["file_id"]] = StoredFile(**record)
            case "press":
                self.presses[record["id"]] = Press(**record)
            case "payment_request":
                self.payment_requests[record["payment"]] = PaymentRequest(**record)
            case "update":
                self.pending_updates.append(PendingUpdate(**record))

    def _restore_chat(self, record: JsonObject) -> None:
        statuses = {int(user_id): status for user_id, status in record.pop("statuses").items()}
        topics = {int(topic_id): Topic(**topic) for topic_id, topic in record.pop("topics").items()}
        last = record["last_message_id"] + NEVER_AGAIN
        self.chats[record["id"]] = Chat(**{**record, "statuses": statuses, "topics": topics, "last_message_id": last})

    def now(self) -> float:
        """Return Unix seconds by the sandbox's clock."""
        return self.settings.clock().timestamp()

    def save_state(self) -> None:
        """Save the server's own state."""
        self.journal.put("server", "state", self.state)

    def save_chat(self, chat: Chat) -> None:
        """Save a chat."""
        self.journal.put("chat", str(chat.id), chat)

    def save_person(self, person: Person) -> None:
        """Save a user."""
        self.journal.put("person", str(person.id), person)

    def save_press(self, press: Press) -> None:
        """Save a press or its answer."""
        self.presses[press.id] = press
        self.journal.put("press", press.id, press)

    def save_message(self, message: StoredMessage) -> None:
        """Save a new or changed message."""
        self.messages.setdefault(message.chat_id, {})[message.message_id] = message
        self.journal.put("message", f"{message.chat_id}/{message.message_id}", message)
        request = find_payment_request(message) if message.chat_id in self.people else None
        if request is not None and self.payment_requests.get(request.payment) != request:
            self.payment_requests[request.payment] = request
            self.journal.put("payment_request", request.payment, request)

    def forget_message(self, message: StoredMessage) -> None:
        """Delete a message."""
        self.messages.get(message.chat_id, {}).pop(message.message_id, None)
        self.journal.put("message", f"{message.chat_id}/{message.message_id}", None)

    def save_file(self, file: StoredFile, content: bytes) -> None:
        """Save a new file."""
        self.files[file.file_id] = file
        self.journal.put("file", file.file_id, file)
        self.journal.put_blob(file.file_id, content)

    def message(self, chat_id: int, message_id: int) -> StoredMessage | None:
        """Return a message that isn't deleted."""
        return self.messages.get(chat_id, {}).get(message_id)

    def add_person(self, person: Person) -> None:
        """Add a user with their private chat."""
        self.people[person.id] = person
        self.save_person(person)
        self.add_chat(Chat(id=person.id, type="private"))

    def add_chat(self, chat: Chat) -> None:
        """Add a chat."""
        self.chats[chat.id] = chat
        self.save_chat(chat)

    def next_person_id(self) -> int:
        """Return a free user id."""
        return max(FIRST_PERSON_ID, *(person_id + 1 for person_id in self.people))

    def next_group_id(self, kind: str) -> int:
        """Return a free group id. Supergroups have their own range."""
        self.state.last_group += 1
        self.save_state()
        return -(1_000_000_000_000 + self.state.last_group) if kind == "supergroup" else -self.state.last_group

    def next_message_id(self, chat: Chat) -> int:
        """Return the next message id.

        Supergroups count their own messages. All other chats of a bot share a counter.
        """
        if chat.type == "supergroup":
            chat.last_message_id += 1
            self.save_chat(chat)
            return chat.last_message_id
        self.state.last_message_id += 1
        self.save_state()
        return self.state.last_message_id

    def bot_user(self) -> JsonObject:
        """Return the bot as a Bot API `User`."""
        return {
            "id": self.settings.bot_id,
            "is_bot": True,
            "first_name": self.settings.bot_name,
            "username": self.settings.bot_username,
        }

    def user(self, user_id: int) -> JsonObject | None:
        """Return any user as a Bot API `User`."""
        if user_id == self.settings.bot_id:
            return self.bot_user()
        person = self.people.get(user_id)
        return None if person is None else person.as_user()

    def chat_json(self, chat: Chat) -> JsonObject:
        """Return a chat as a Bot API `Chat`."""
        if chat.type == "private":
            person = self.people[chat.id]
            described: JsonObject = {"id": chat.id, "first_name": person.first_name}
            if person.last_name:
                described["last_name"] = person.last_name
            if person.username:
                described["username"] = person.username
            return {**described, "type": "private"}
        described = {"id": chat.id, "title": chat.title, "type": chat.type}
        return {**described, "is_forum": True} if chat.is_forum else described

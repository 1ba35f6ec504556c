"""The state of the sandbox's Telegram, in memory. Every change is saved to the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api import payment_requests
from bot.sandbox.bot_api.model import Chat, JsonObject, Person, Press, ServerState, StoredFile, StoredMessage, Topic
from bot.sandbox.bot_api.payment_requests import PaymentRequest
from bot.sandbox.bot_api.updates import PendingUpdate

if TYPE_CHECKING:
    from bot.sandbox.bot_api.journal import Journal
    from bot.sandbox.bot_api.settings import TelegramSandboxSettings

FIRST_PERSON_ID = 5001


class World:
    """Users, chats, messages, files and presses, by their ids."""

    def __init__(self, settings: TelegramSandboxSettings, journal: Journal) -> None:
        self.settings = settings
        self.journal = journal
        self.pending_updates: list[PendingUpdate] = []
        self._begin()
        for kind, _, record in journal.records():
            self._restore(kind, record)
        self._add_missing()
        self.state.last_event += 1_000 if self.state.last_event else 0
        self.save_state()

    def _begin(self) -> None:
        self.people: dict[int, Person] = {}
        self.chats: dict[int, Chat] = {}
        self.messages: dict[int, dict[int, StoredMessage]] = {}
        self.files: dict[str, StoredFile] = {}
        self.presses: dict[str, Press] = {}
        self.payment_requests: dict[str, PaymentRequest] = {}
        self.state = ServerState()

    def _add_missing(self) -> None:
        """Add missing users and groups of the settings."""
        for person in self.settings.people:
            if person.id not in self.people:
                self.add_person(Person(**vars(person)))
        for group in self.settings.groups:
            if group.id not in self.chats:
                bot = {self.settings.bot_id: "administrator"} if group.has_bot else {}
                statuses = {**group.statuses, **bot}
                self.add_chat(Chat(**{**vars(group), "statuses": statuses, "topics": {}, "pinned": []}))

    def _restore(self, kind: str, record: Any) -> None:  # noqa: ANN401  a record of any kind
        match kind:
            case "server":
                self.state = ServerState(**record)
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
        self.chats[record["id"]] = Chat(**record, statuses=statuses, topics=topics)

    def now(self) -> float:
        """Return Unix seconds by the sandbox's clock."""
        return self.settings.clock().timestamp()

    def forget_all(self) -> None:
        """Restore the first state. The counters of updates and events continue, because clients rely on them."""
        updates, events = self.state.last_update_id, self.state.last_event
        self.journal.clear()
        self._begin()
        self._add_missing()
        self.state.last_update_id, self.state.last_event = updates, events
        self.save_state()

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
        request = payment_requests.find(message) if message.chat_id in self.people else None
        if request is not None and self.payment_requests.get(request.payment) != request:
            self.payment_requests[request.payment] = request
            self.journal.put("payment_request", request.payment, request)

    def forget_message(self, message: StoredMessage) -> None:
        """Delete a message."""
        self.messages.get(message.chat_id, {}).pop(message.message_id, None)
        self.journal.forget("message", f"{message.chat_id}/{message.message_id}")

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
            "first_name": self.state.names.get("") or self.settings.bot_name,
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

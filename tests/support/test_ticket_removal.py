"""What a forgotten person's ticket leaves in support's chats goes: its topic where the bot may, else each message."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import pytest

from bot.infra.i18n import Translations
from bot.infra.outbox.model import Notification, RetryLater, Sent
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Messenger, Outcome, TryLater
from bot.support.tickets.notifications import ToStaffChat
from bot.support.user_chat.rendering import TicketRenderer
from tests.architecture.every_screen import NOW

GROUP = -100_3001
TRANSLATIONS = Translations.load(strict=True)


@dataclass
class Chats:
    """What was asked to be deleted, and what becomes of it."""

    topic: Outcome = field(default_factory=Delivered)
    message: Outcome = field(default_factory=Delivered)
    asked: list[tuple[str, int]] = field(default_factory=list)

    @property
    def rooms(self) -> "Chats":
        return self

    async def delete_topic(self, _: int, topic_id: int) -> Outcome:
        self.asked.append(("topic", topic_id))
        return self.topic

    async def delete(self, _: int, message_id: int, **__: Any) -> Outcome:
        self.asked.append(("message", message_id))
        return self.message


async def removes(chats: Chats, chat_id: int = GROUP, **payload: object) -> object:
    news = Notification(
        chat_id=chat_id,
        subject="ticket:T-4F7K2",
        kind=ToStaffChat.FORGOTTEN,
        payload={"chat": GROUP, "topics": [], "messages": [11, 12], **payload},
        due_at=NOW,
        created_at=NOW,
    )
    tellers = TicketRenderer(
        cast("Any", None),
        cast("Messenger", chats),
        cast("Any", None),
        reopen_within=timedelta(days=7),
        reply_time=cast("Any", None),
    ).renderers()
    return await tellers[ToStaffChat.FORGOTTEN](news, None, TRANSLATIONS.get("en"))


@pytest.mark.parametrize("topic", [Delivered(), Gone()])
async def test_a_topic_goes_as_a_whole(topic: Outcome) -> None:
    chats = Chats(topic)
    assert await removes(chats, topics=[5]) == Sent()
    assert chats.asked == [("topic", 5)]


async def test_where_the_bot_may_not_delete_topics_it_deletes_its_messages() -> None:
    chats = Chats(Invalid("not enough rights"), Gone())
    assert await removes(chats, topics=[5]) == Sent()
    assert chats.asked == [("topic", 5), ("message", 11), ("message", 12)]


async def test_what_could_not_be_asked_is_asked_again() -> None:
    assert isinstance(await removes(Chats(message=TryLater(3.0))), RetryLater)
    chats = Chats(TryLater(3.0))
    assert isinstance(await removes(chats, topics=[5]), RetryLater)
    assert chats.asked == [("topic", 5)]


async def test_in_another_chat_than_its_own_nothing_is_deleted() -> None:
    chats = Chats()
    assert await removes(chats, chat_id=3001) == Sent()
    assert chats.asked == []

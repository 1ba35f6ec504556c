"""A deleted user's tickets are deleted in support's chats: the topic, or else each message."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.infra.outbox.model import RetryLater, Sent
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Outcome, TryLater
from bot.support.notifications import DeletedTicket, StaffNotification, ticket_notification
from bot.support.staff_messages import _remove_deleted
from tests.infra.builders import as_stored
from tests.rendering import context_for, renderers_for
from tests.screens import NOW

GROUP = -100_3001


@dataclass
class Chats:
    """Chats that record requests to delete, and return the given outcomes."""

    topic: Outcome = field(default_factory=Delivered)
    message: Outcome = field(default_factory=Delivered)
    asked: list[tuple[str, int]] = field(default_factory=list)

    @property
    def topics(self) -> "Chats":
        return self

    async def delete_topic(self, _: int, topic_id: int) -> Outcome:
        self.asked.append(("topic", topic_id))
        return self.topic

    async def delete(self, _: int, message_id: int, **__: Any) -> Outcome:
        self.asked.append(("message", message_id))
        return self.message


async def removes(
    chats: Chats, chat_id: int = GROUP, topics: tuple[int, ...] = (), outside: tuple[int, ...] = ()
) -> object:
    deleted = DeletedTicket("T-4F7K2", GROUP, topics, (11, 12), outside)
    notification = ticket_notification(chat_id, StaffNotification.DELETED, deleted, NOW)
    context = context_for(None, store=None, messenger=chats, now=NOW)
    return await renderers_for(context, {StaffNotification.DELETED: _remove_deleted}).send(as_stored(notification))


@pytest.mark.parametrize("topic", [Delivered(), Gone()])
async def test_a_topic_goes_as_a_whole(topic: Outcome) -> None:
    chats = Chats(topic)
    assert await removes(chats, topics=(5,)) == Sent()
    assert chats.asked == [("topic", 5)]


async def test_what_was_shown_outside_its_topic_goes_too() -> None:
    chats = Chats()
    assert await removes(chats, topics=(5,), outside=(12,)) == Sent()
    assert chats.asked == [("topic", 5), ("message", 12)]


async def test_where_the_bot_may_not_delete_topics_it_deletes_its_messages() -> None:
    chats = Chats(Invalid("not enough rights"), Gone())
    assert await removes(chats, topics=(5,)) == Sent()
    assert chats.asked == [("topic", 5), ("message", 11), ("message", 12)]


async def test_what_could_not_be_asked_is_asked_again() -> None:
    assert isinstance(await removes(Chats(message=TryLater(3.0))), RetryLater)
    chats = Chats(TryLater(3.0))
    assert isinstance(await removes(chats, topics=(5,)), RetryLater)
    assert chats.asked == [("topic", 5)]


async def test_in_another_chat_than_its_own_nothing_is_deleted() -> None:
    chats = Chats()
    assert await removes(chats, chat_id=3001) == Sent()
    assert chats.asked == []

"""A topic that someone closed by hand is opened again. Where the bot may not, the ticket goes on in General."""

from collections.abc import AsyncIterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.infra.outbox.model import RetryLater
from bot.infra.telegram.outcomes import Delivered, Invalid, Outcome, TryLater
from bot.support.model import BotMessageRole
from bot.support.repository import BotMessageRepository
from bot.support.topics import TicketTopics
from tests.infra.builders import an_infra
from tests.settlement.fake_settlement import MovedClock
from tests.support.builders import a_bot_message
from tests.support.ticket_system import GROUP, TicketSystem

CLOSED = Invalid("Bad Request: TOPIC_CLOSED")


class FakeTopics:
    """Telegram's topics, which may only be opened again if `outcome` is `Delivered`."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.opened: list[tuple[int, int]] = []

    async def reopen_topic(self, chat_id: int, topic_id: int) -> Outcome:
        """Record the call."""
        self.opened.append((chat_id, topic_id))
        return self.outcome


async def answer_closed(system: TicketSystem, outcome: Outcome) -> tuple[object, bool, FakeTopics]:
    """Handle a message that a closed topic refused. Return the result, and whether the ticket still has its topic."""
    ticket, topics = await system.open_ticket(), FakeTopics(outcome)
    async with system.store.transaction() as tx:
        topic = a_bot_message(5, ticket.reference, chat_id=GROUP, role=BotMessageRole.TOPIC, topic_id=5)
        await BotMessageRepository(tx).add(topic)
    messenger = cast("Any", SimpleNamespace(topics=topics))
    infra = replace(an_infra(system.store, system.clock), messenger=messenger)
    result = await TicketTopics(infra).handle_outcome(GROUP, 5, CLOSED)
    async with system.store.reading() as tx:
        known = await BotMessageRepository(tx).topic(ticket.reference, GROUP)
    return result, known is not None, topics


@pytest.fixture
async def system(database: str) -> AsyncIterator[TicketSystem]:
    system = TicketSystem(database, MovedClock())
    yield system
    await system.store.close()


async def test_a_topic_closed_by_hand_is_opened_again(system: TicketSystem) -> None:
    result, has_topic, topics = await answer_closed(system, Delivered())
    assert (result, has_topic, topics.opened) == (RetryLater(0), True, [(GROUP, 5)])


async def test_where_the_bot_may_not_open_it_the_ticket_goes_on_with_a_card_in_general(system: TicketSystem) -> None:
    result, has_topic, _ = await answer_closed(system, Invalid("Bad Request: not enough rights to reopen a topic"))
    assert (result, has_topic) == (RetryLater(0), False)


async def test_while_telegram_does_not_answer_the_topic_is_kept(system: TicketSystem) -> None:
    result, has_topic, _ = await answer_closed(system, TryLater(7))
    assert isinstance(result, RetryLater)
    assert (result.after, has_topic) == (7, True)

"""A ticket's topic is saved before its card, and deleted with all messages in it."""

import pytest

from bot.infra.db.database import Database
from bot.support.model import BotMessageRole
from bot.support.repository import BotMessageRepository, TicketRepository
from tests.support.builders import a_bot_message, a_ticket

GROUP, OTHER = -1001, 3001


@pytest.fixture(autouse=True)
async def tickets(store: Database) -> None:
    """Two tickets with a topic each. The first had another topic before."""
    async with store.transaction() as tx:
        for name in ("T-2345A", "T-3456B"):
            assert await TicketRepository(tx).add(a_ticket(name))
        for topic_id, ticket in ((5, "T-2345A"), (9, "T-2345A"), (7, "T-3456B")):
            await BotMessageRepository(tx).add(
                a_bot_message(topic_id, ticket, role=BotMessageRole.TOPIC, topic_id=topic_id)
            )


async def test_the_newest_topic_is_the_tickets_and_is_no_card(store: Database) -> None:
    async with store.reading() as tx:
        topic = await BotMessageRepository(tx).topic("T-2345A", GROUP)
        assert topic is not None
        assert (topic.topic_id, topic.argument) == (9, "")
        assert await BotMessageRepository(tx).topic("T-2345A", OTHER) is None
        assert await BotMessageRepository(tx).card("T-2345A", GROUP) is None
        assert await BotMessageRepository(tx).cards("T-2345A") == ()


async def test_how_a_topic_stands_is_kept_over_what_was_known(store: Database) -> None:
    async with store.transaction() as tx:
        await BotMessageRepository(tx).add(a_bot_message(9, role=BotMessageRole.TOPIC, topic_id=9, argument="closed"))
    async with store.reading() as tx:
        topic = await BotMessageRepository(tx).topic("T-2345A", GROUP)
        assert topic is not None
        assert topic.argument == "closed"


async def test_a_topic_that_is_gone_takes_all_that_stood_in_it_along_and_nothing_else(store: Database) -> None:
    async with store.transaction() as tx:
        await BotMessageRepository(tx).add(a_bot_message(20, topic_id=9))
        await BotMessageRepository(tx).add(a_bot_message(21, topic_id=5))
        await BotMessageRepository(tx).add(a_bot_message(22, chat_id=OTHER, topic_id=9))
        await BotMessageRepository(tx).delete_topic(GROUP, 9)
    async with store.reading() as tx:
        assert await BotMessageRepository(tx).get(GROUP, 20) is None
        assert await BotMessageRepository(tx).get(GROUP, 21) is not None
        assert await BotMessageRepository(tx).get(OTHER, 22) is not None
        topic = await BotMessageRepository(tx).topic("T-2345A", GROUP)
        assert topic is not None
        assert topic.topic_id == 5
        assert await BotMessageRepository(tx).topic("T-3456B", GROUP) is not None

"""Which messages belong to which ticket: cards, entries, topics, and a group that moves."""

from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.staff.repository import MovedChatRepository
from bot.support.model import BotMessage, BotMessageRole
from bot.support.repository import BotMessageRepository, TicketRepository
from bot.support.topics import move_group
from tests.infra.builders import a_notification, due_heads
from tests.support.builders import a_bot_message, a_ticket
from tests.times import NOW, SECOND

GROUP, OTHER, NEW_GROUP = -1001, 3001, -1_002_000_000_009


@pytest.fixture
async def tickets(store: Database) -> None:
    """Two open tickets."""
    async with store.transaction() as tx:
        for name in ("T-2345A", "T-3456B"):
            assert await TicketRepository(tx).add(a_ticket(name))


async def adds(store: Database, *bot_messages: BotMessage) -> None:
    async with store.transaction() as tx:
        for bot_message in bot_messages:
            await BotMessageRepository(tx).add(bot_message)


@pytest.mark.usefixtures("tickets")
@pytest.mark.parametrize("role", BotMessageRole)
async def test_a_post_is_read_as_it_was_added(store: Database, role: BotMessageRole) -> None:
    bot_message = a_bot_message(2**40, role=role, topic_id=2**33, entry=7, argument="note:3001")
    await adds(store, bot_message)
    async with store.reading() as tx:
        assert await BotMessageRepository(tx).get(GROUP, 2**40) == bot_message
        assert await BotMessageRepository(tx).get(OTHER, 2**40) is None
        assert await BotMessageRepository(tx).get(GROUP, 1) is None


@pytest.mark.usefixtures("tickets")
async def test_the_newest_card_of_each_chat_is_its_head(store: Database) -> None:
    await adds(
        store,
        a_bot_message(1),
        a_bot_message(5, at=NOW + SECOND, topic_id=5),
        a_bot_message(9, at=NOW + SECOND, role=BotMessageRole.REMARK),
        a_bot_message(3, chat_id=OTHER),
        a_bot_message(8, "T-3456B", at=NOW + SECOND * 9),
    )
    async with store.reading() as tx:
        heads = {each.chat_id: each.message_id for each in await BotMessageRepository(tx).cards("T-2345A")}
        assert heads == {GROUP: 5, OTHER: 3}
        head = await BotMessageRepository(tx).card("T-2345A", GROUP)
        assert head is not None
        assert (head.message_id, head.topic_id) == (5, 5)
        assert await BotMessageRepository(tx).card("T-2345A", 77) is None


@pytest.mark.usefixtures("tickets")
async def test_an_entry_is_found_where_it_stands_last(store: Database) -> None:
    entry: dict[str, Any] = {"role": BotMessageRole.ENTRY, "entry": 2}
    await adds(
        store,
        a_bot_message(4, **entry),
        a_bot_message(6, **entry),
        a_bot_message(7, role=BotMessageRole.REMARK, entry=2),
    )
    await adds(store, a_bot_message(8, "T-3456B", **entry), a_bot_message(9, **entry, chat_id=OTHER))
    async with store.reading() as tx:
        found = await BotMessageRepository(tx).of_entry("T-2345A", 2, GROUP)
        assert found is not None
        assert found.message_id == 6
        assert await BotMessageRepository(tx).of_entry("T-2345A", 1, GROUP) is None


@pytest.mark.usefixtures("tickets")
async def test_a_topic_leads_to_its_ticket(store: Database) -> None:
    await adds(
        store, a_bot_message(1, topic_id=70), a_bot_message(2, "T-3456B", topic_id=80), a_bot_message(3, topic_id=70)
    )
    async with store.reading() as tx:
        found = [await BotMessageRepository(tx).of_topic(GROUP, topic) for topic in (70, 80, 90)]
        assert found == ["T-2345A", "T-3456B", None]
        assert await BotMessageRepository(tx).of_topic(OTHER, 70) is None


@pytest.mark.usefixtures("tickets")
async def test_a_group_that_moves_takes_what_is_to_be_told_along_and_leaves_its_messages(store: Database) -> None:
    await adds(store, a_bot_message(1), a_bot_message(2, chat_id=OTHER))
    async with store.transaction() as tx:
        await OutboxRepository(tx).add(
            [
                a_notification("ticket:T-2345A", "ticket_card", mark=str(n), chat_id=GROUP, queue=Queue.EXTRA)
                for n in range(3)
            ]
        )
    async with store.transaction() as tx:
        told = (await due_heads(tx, NOW, queue=Queue.EXTRA))[0]
        assert await OutboxRepository(tx).mark_sending([told.id], NOW)
        await OutboxRepository(tx).record_sent({told.id: 5}, NOW)
        await OutboxRepository(tx).move_chat(GROUP, NEW_GROUP)
        await move_group(tx, GROUP, NEW_GROUP)
    async with store.reading() as tx:
        notifications = await OutboxRepository(tx).find_by_subject("ticket:T-2345A")
        assert sorted(each.chat_id for each in notifications) == [NEW_GROUP, NEW_GROUP, GROUP]
        assert await BotMessageRepository(tx).get(GROUP, 1) is None
        assert await BotMessageRepository(tx).get(OTHER, 2) is not None
        assert await MovedChatRepository(tx).current(GROUP) == NEW_GROUP
        assert await MovedChatRepository(tx).current(OTHER) == OTHER


@pytest.mark.usefixtures("tickets")
async def test_being_told_twice_of_a_move_changes_nothing(store: Database) -> None:
    for _ in range(2):
        async with store.transaction() as tx:
            await move_group(tx, GROUP, NEW_GROUP)
    await adds(store, a_bot_message(1, chat_id=NEW_GROUP))
    async with store.reading() as tx:
        assert await BotMessageRepository(tx).card("T-2345A", NEW_GROUP) is not None

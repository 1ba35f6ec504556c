"""Update ids identify updates, but their order means nothing: Telegram can start with new ids."""

from dataclasses import replace
from datetime import timedelta

from bot.checkout.repository import DraftRepository
from bot.checkout.service import DraftService
from bot.infra.telegram.inbound.model import HANDLED_BY_DRAFT, HANDLED_BY_QUESTION, InboxItem
from bot.infra.telegram.inbound.repository import InboxRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.orders.order_system import EMMA, OrderSystem


def update(system: OrderSystem, update_id: int) -> InboxItem:
    return InboxItem(update_id=update_id, chat_id=EMMA, body="{}", received_at=system.clock.now())


async def test_the_update_that_a_draft_has_taken_in_is_marked_with_it(system: OrderSystem) -> None:
    async with system.sql.transaction() as tx:
        await InboxRepository(tx).add([update(system, 900), update(system, 901), update(system, 7)])
    drafts = DraftService(system.store, system.clock)
    draft = await drafts.begin(EMMA, EMMA, 900)
    await drafts.save(replace(draft, number="1234567890"), 7)
    async with system.sql.reading() as tx:
        taken = {item.update_id: item.handled_by for item in await InboxRepository(tx).find_unfinished(EMMA)}
    assert taken == {900: HANDLED_BY_DRAFT, 901: None, 7: HANDLED_BY_DRAFT}


async def test_a_save_that_lost_marks_nothing(system: OrderSystem) -> None:
    async with system.sql.transaction() as tx:
        await InboxRepository(tx).add([update(system, 5), update(system, 6)])
    drafts = DraftService(system.store, system.clock)
    draft = await drafts.begin(EMMA, EMMA, 4)
    await drafts.save(draft, 5)
    async with system.sql.transaction() as tx:
        assert await DraftRepository(tx).save(replace(draft, last_update_id=6)) is None
    async with system.sql.reading() as tx:
        assert [item.handled_by for item in await InboxRepository(tx).find_unfinished(EMMA)] == [HANDLED_BY_DRAFT, None]


async def test_the_update_that_has_answered_a_question_is_marked_with_it(system: OrderSystem) -> None:
    async with system.sql.transaction() as tx:
        await InboxRepository(tx).add([update(system, 5), update(system, 6)])
        await UserRepository(tx).save(User(id=EMMA, created_at=system.clock.now(), answered_update_id=5))
    async with system.sql.reading() as tx:
        assert [item.handled_by for item in await InboxRepository(tx).find_unfinished(EMMA)] == [
            HANDLED_BY_QUESTION,
            None,
        ]


async def test_updates_wait_in_the_order_in_which_they_came_whatever_their_ids(system: OrderSystem) -> None:
    async with system.sql.transaction() as tx:
        await InboxRepository(tx).add([update(system, 1_000)])
        await InboxRepository(tx).add(
            [replace(update(system, 3), received_at=system.clock.now() + timedelta(seconds=1))]
        )
    async with system.sql.reading() as tx:
        assert [item.update_id for item in await InboxRepository(tx).find_unfinished(EMMA)] == [1_000, 3]
        assert [item.update_id for item in await InboxRepository(tx).find_unfinished(EMMA, known=[1_000])] == [3]

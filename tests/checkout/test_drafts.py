"""Tests of the draft service: one open draft a chat, answers saved once, drafts expired and resumed."""

from bot.checkout.draft import IDLE_LIMIT, DraftStatus, OrderDraft
from bot.checkout.notifications import DraftNotification
from bot.checkout.repository import DraftRepository
from tests.orders.order_system import EMMA, SARI, OrderSystem


async def kept(system: OrderSystem, draft: OrderDraft) -> OrderDraft:
    found = await system.drafts.get(draft.id)
    assert found is not None
    return found


async def open_in(system: OrderSystem, chat_id: int = EMMA) -> OrderDraft | None:
    async with system.store.reading() as tx:
        return await DraftRepository(tx).open_of(chat_id)


async def expired(system: OrderSystem, chat_id: int = EMMA) -> OrderDraft:
    draft = await system.draft(chat_id)
    system.clock.passes(seconds=IDLE_LIMIT.total_seconds())
    assert await system.drafts.expire(draft.id)
    return await kept(system, draft)


async def test_a_new_draft_takes_the_place_of_the_open_one(system: OrderSystem) -> None:
    first = await system.drafts.begin(system.new_draft(), 1)
    second = await system.drafts.begin(system.new_draft(), 2)
    assert (await kept(system, first)).status is DraftStatus.CANCELLED
    assert await open_in(system) == second
    assert second.last_update_id == 2


async def test_an_idle_draft_is_put_away_and_its_user_told_once(system: OrderSystem) -> None:
    draft = await system.drafts.begin(system.new_draft(), 1)
    system.clock.passes(minutes=29)
    assert await system.drafts.expired() == ()
    assert not await system.drafts.expire(draft.id)
    system.clock.passes(minutes=1)
    assert [each.id for each in await system.drafts.expired()] == [draft.id]
    assert [await system.drafts.expire(draft.id) for _ in range(3)] == [True, False, False]
    await system.deliver()
    assert system.sender.kinds() == [DraftNotification.EXPIRED]
    assert await system.drafts.expired() == ()


async def test_an_answer_just_before_keeps_a_draft_from_being_put_away(system: OrderSystem) -> None:
    draft = await system.drafts.begin(system.new_draft(), 1)
    system.clock.passes(minutes=30)
    found = await system.drafts.expired()
    assert await system.drafts.save(draft, 2)
    assert not await system.drafts.expire(found[0].id)
    assert await open_in(system) is not None


async def test_a_draft_that_was_put_away_is_taken_up_with_all_its_answers(system: OrderSystem) -> None:
    away = await expired(system)
    again = await system.drafts.resume(away, 9)
    assert again is not None
    assert (again.status, again.amount, again.number) == (DraftStatus.OPEN, away.amount, away.number)
    assert again.expires_at == system.clock.now() + IDLE_LIMIT
    assert await system.drafts.resume(again, 10) == again


async def test_a_draft_is_not_taken_up_beside_another(system: OrderSystem) -> None:
    away = await expired(system)
    await system.drafts.begin(system.new_draft(), 5)
    assert await system.drafts.resume(away, 6) is None
    assert (await kept(system, away)).status is DraftStatus.EXPIRED


async def test_a_placed_draft_is_neither_put_away_nor_taken_up(system: OrderSystem) -> None:
    draft = await system.draft()
    await system.confirm(draft)
    await system.orders.submission.wait()
    system.clock.passes(hours=1)
    assert not await system.drafts.expire(draft.id)
    assert await system.drafts.resume(await kept(system, draft), 9) is None


async def test_a_draft_waits_for_the_service_in_one_message_until_it_goes_on(system: OrderSystem) -> None:
    draft = await system.draft(EMMA)
    assert await system.drafts.waiting() == ()
    await system.drafts.wait_for_service(draft, 77)
    assert [each.id for each in await system.drafts.waiting()] == [draft.id]
    waiting = await kept(system, draft)
    assert (waiting.message_id, waiting.revision) == (77, draft.revision)  # its buttons stay valid
    await system.drafts.stop_waiting(waiting)
    assert await system.drafts.waiting() == ()
    assert await kept(system, draft) == draft


async def test_waiting_for_the_service_ends_with_the_draft(system: OrderSystem) -> None:
    cancelled, idle = await system.draft(EMMA), await system.draft(SARI)
    for draft in (cancelled, idle):
        await system.drafts.wait_for_service(draft, 77)
    await system.drafts.cancel(await kept(system, cancelled), 9)
    assert [each.id for each in await system.drafts.waiting()] == [idle.id]
    system.clock.passes(seconds=IDLE_LIMIT.total_seconds())
    assert await system.drafts.waiting() == ()
    await system.drafts.wait_for_service(cancelled, 78)  # too late
    assert (await kept(system, cancelled)).message_id == 77

"""Drafts: one open in a chat, each answer saved over what it answered, put away when idle and taken up again."""

import asyncio
from dataclasses import replace

import pytest

from bot.checkout.confirmation import review_draft
from bot.checkout.draft import IDLE_LIMIT, DraftStatus, OrderDraft, Step
from bot.checkout.flow import is_complete
from bot.checkout.notifications import DraftNotification
from bot.checkout.repository import DraftRepository
from bot.core.money import Amount
from tests.orders.order_world import EMMA, SARI, House


async def kept(house: House, draft: OrderDraft) -> OrderDraft:
    found = await house.drafts.get(draft.id)
    assert found is not None
    return found


async def open_in(house: House, chat_id: int = EMMA) -> OrderDraft | None:
    async with house.store.reading() as tx:
        return await DraftRepository(tx).open_of(chat_id)


async def lapsed(house: House, chat_id: int = EMMA) -> OrderDraft:
    draft = await house.draft(chat_id)
    house.clock.passes(seconds=IDLE_LIMIT.total_seconds())
    assert await house.drafts.lapse(draft.id)
    return await kept(house, draft)


async def test_a_new_draft_takes_the_place_of_the_open_one(house: House) -> None:
    first = await house.drafts.begin(EMMA, EMMA, 1)
    second = await house.drafts.begin(EMMA, EMMA, 2)
    assert (await kept(house, first)).status is DraftStatus.CANCELLED
    assert await open_in(house) == second
    assert second.last_update_id == 2


async def test_chats_have_drafts_of_their_own(house: House) -> None:
    emma, sari = await house.drafts.begin(EMMA, EMMA, 1), await house.drafts.begin(SARI, SARI, 1)
    assert await open_in(house, EMMA) == emma
    assert await open_in(house, SARI) == sari


async def test_two_beginnings_at_once_leave_one_open_draft(house: House) -> None:
    drafts = await asyncio.gather(*(house.drafts.begin(EMMA, EMMA, update) for update in range(1, 6)))
    statuses = [(await kept(house, draft)).status for draft in drafts]
    assert statuses.count(DraftStatus.OPEN) == 1


async def test_an_answer_to_a_question_that_has_changed_is_not_saved(house: House) -> None:
    draft = await house.drafts.begin(EMMA, EMMA, 1)
    assert await house.drafts.save(replace(draft, step=Step.NUMBER), 2)
    assert await house.drafts.save(replace(draft, step=Step.AMOUNT), 3) is None
    assert (await kept(house, draft)).step is Step.NUMBER


async def test_each_answer_gives_the_draft_its_whole_time_again(house: House) -> None:
    draft = await house.drafts.begin(EMMA, EMMA, 1)
    house.clock.passes(minutes=29)
    saved = await house.drafts.save(draft, 2)
    assert saved is not None
    assert (saved.expires_at, saved.last_update_id) == (house.clock.now() + IDLE_LIMIT, 2)


async def test_a_draft_that_was_left_is_closed_for_good(house: House) -> None:
    draft = await house.drafts.begin(EMMA, EMMA, 1)
    cancelled = await house.drafts.cancel(draft, 2)
    assert cancelled is not None
    assert await open_in(house) is None
    assert await house.drafts.resume(cancelled, 3) is None


async def test_an_idle_draft_is_put_away_and_its_user_told_once(house: House) -> None:
    draft = await house.drafts.begin(EMMA, EMMA, 1)
    house.clock.passes(minutes=29)
    assert await house.drafts.lapsed() == ()
    assert not await house.drafts.lapse(draft.id)
    house.clock.passes(minutes=1)
    assert [each.id for each in await house.drafts.lapsed()] == [draft.id]
    assert [await house.drafts.lapse(draft.id) for _ in range(3)] == [True, False, False]
    await house.tells()
    assert house.ears.kinds() == [DraftNotification.EXPIRED]
    assert await house.drafts.lapsed() == ()


async def test_an_answer_just_before_keeps_a_draft_from_being_put_away(house: House) -> None:
    draft = await house.drafts.begin(EMMA, EMMA, 1)
    house.clock.passes(minutes=30)
    found = await house.drafts.lapsed()
    assert await house.drafts.save(draft, 2)
    assert not await house.drafts.lapse(found[0].id)
    assert await open_in(house) is not None


async def test_a_draft_that_was_put_away_is_taken_up_with_all_its_answers(house: House) -> None:
    away = await lapsed(house)
    again = await house.drafts.resume(away, 9)
    assert again is not None
    assert (again.status, again.amount, again.number) == (DraftStatus.OPEN, away.amount, away.number)
    assert again.expires_at == house.clock.now() + IDLE_LIMIT
    assert await house.drafts.resume(again, 10) == again


async def test_a_draft_put_away_twice_is_told_twice(house: House) -> None:
    away = await lapsed(house)
    again = await house.drafts.resume(away, 9)
    house.clock.passes(minutes=30)
    assert again is not None
    assert await house.drafts.lapse(again.id)
    await house.tells()
    assert house.ears.kinds() == [DraftNotification.EXPIRED] * 2


async def test_a_draft_is_not_taken_up_beside_another(house: House) -> None:
    away = await lapsed(house)
    await house.drafts.begin(EMMA, EMMA, 5)
    assert await house.drafts.resume(away, 6) is None
    assert (await kept(house, away)).status is DraftStatus.LAPSED


async def test_a_placed_draft_is_neither_put_away_nor_taken_up(house: House) -> None:
    draft = await house.draft()
    await house.confirm(draft)
    await house.orders.submission.wait()
    house.clock.passes(hours=1)
    assert not await house.drafts.lapse(draft.id)
    assert await house.drafts.resume(await kept(house, draft), 9) is None


@pytest.mark.parametrize("amount", [Amount("IDR", 250_000), Amount("SAT", 20_000)])
async def test_the_same_wish_again_is_a_draft_ready_for_its_review(house: House, amount: Amount) -> None:
    order = await house.place(holder="SARI DEWI", amount=amount)
    draft = await house.drafts.begin_with(house.drafts.repeat_order(order, order.method), 9)
    assert is_complete(draft)
    assert (draft.step, draft.amount, draft.holder, draft.quote) == (Step.REVIEW, amount, "SARI DEWI", None)
    reviewed, worth = await review_draft(house.orders, draft)
    assert reviewed.quote is not None
    assert worth.sats == order.sats

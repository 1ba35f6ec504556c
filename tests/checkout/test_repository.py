"""Tests of the draft repository: one open draft a chat, and no save overwrites a newer one."""

import asyncio
from dataclasses import replace

from bot.checkout.draft import DraftStatus, Step, refuse
from bot.checkout.repository import DraftRepository
from bot.core.errors import Rejection
from bot.infra.db.database import Database
from tests.checkout.builders import a_draft
from tests.times import NOW, SECOND


async def test_two_processes_begin_one_draft_between_them(store: Database, other_store: Database) -> None:
    async def begin(one: Database, draft_id: str) -> bool:
        async with one.transaction() as tx:
            return await DraftRepository(tx).add(a_draft(draft_id))

    begun = await asyncio.gather(*(begin(one, f"d{n}") for n, one in enumerate([store, other_store] * 5)))
    assert sum(begun) == 1


async def test_of_two_savers_of_one_revision_one_wins(store: Database, other_store: Database) -> None:
    async with store.transaction() as tx:
        await DraftRepository(tx).add(a_draft("d1"))

    async def save(one: Database, number: str) -> bool:
        async with one.transaction() as tx:
            return await DraftRepository(tx).save(a_draft("d1", number=number)) is not None

    saved = await asyncio.gather(*(save(one, str(n)) for n, one in enumerate([store, other_store] * 5)))
    assert sum(saved) == 1
    async with store.reading() as tx:
        assert await DraftRepository(tx).get("d1") == a_draft("d1", number=str(saved.index(True)), revision=1)


async def test_a_lapsed_draft_is_not_taken_up_beside_a_newer_one(store: Database) -> None:
    expired = a_draft("d1", status=DraftStatus.EXPIRED)
    async with store.transaction() as tx:
        await DraftRepository(tx).add(expired)
        await DraftRepository(tx).add(a_draft("d2"))
        assert await DraftRepository(tx).save(replace(expired, status=DraftStatus.OPEN)) is None
        assert await DraftRepository(tx).save(a_draft("d2", status=DraftStatus.CANCELLED))
        again = await DraftRepository(tx).save(replace(expired, status=DraftStatus.OPEN))
        assert again is not None
        assert await DraftRepository(tx).open_of(1001) == again
        assert await DraftRepository(tx).save(again) is not None, "its own openness is no obstacle"


REFUSAL = refuse(Step.AMOUNT, Rejection("orders.amount.above_cap", cap=250_000, name="BCA", again=NOW), NOW)


async def test_a_refusal_is_kept_without_a_new_revision_and_without_what_was_typed(store: Database) -> None:
    draft = a_draft("d1", last_update_id=7)
    async with store.transaction() as tx:
        await DraftRepository(tx).add(draft)
        await DraftRepository(tx).record_refusal(draft, REFUSAL)
    async with store.reading() as tx:
        assert await DraftRepository(tx).get("d1") == replace(draft, refusal=REFUSAL)
    assert REFUSAL.arguments == {"cap": 250_000, "name": None, "again": NOW}


async def test_only_the_newest_draft_can_be_unfinished(store: Database) -> None:
    async with store.transaction() as tx:
        drafts = DraftRepository(tx)
        assert await drafts.unfinished_of(1001) is None
        expired = a_draft("d1", status=DraftStatus.EXPIRED, expires_at=NOW + SECOND)
        await drafts.add(expired)
        assert await drafts.unfinished_of(1001) == expired
        for number, status in enumerate((DraftStatus.PLACED, DraftStatus.CANCELLED), start=2):
            await drafts.add(a_draft(f"d{number}", status=status, expires_at=NOW + number * SECOND))
            assert await drafts.unfinished_of(1001) is None, "they are done with it"
        await drafts.add(a_draft("d4", expires_at=NOW))
        assert await drafts.unfinished_of(1001) == a_draft("d4", expires_at=NOW), "it is open"
        assert await drafts.unfinished_of(1002) is None

"""What was revealed, on both databases: kept before anything is seen, and found until it has been masked."""

from dataclasses import replace

from bot.infra.db.database import SqlStore
from bot.staff.model import Reveal
from tests.contract.store_builders import NOW, SECOND


def a_reveal(reveal_id: str, *, seconds: int = 60, message_id: int | None = 7) -> Reveal:
    until = NOW + SECOND * seconds
    return Reveal(id=reveal_id, reference="R2345AB", staff_id=3001, message_id=message_id, at=NOW, until=until)


async def unmasked(store: SqlStore) -> list[str]:
    async with store.reading() as tx:
        return [reveal.id for reveal in await tx.reveals.unmasked()]


async def test_what_may_be_seen_is_found_the_longest_shown_first_whatever_the_clock_says(store: SqlStore) -> None:
    later, sooner = a_reveal("a", seconds=61), a_reveal("b", seconds=59)
    async with store.transaction() as tx:
        await tx.reveals.add(later)
        await tx.reveals.add(sooner)
    async with store.reading() as tx:
        assert await tx.reveals.unmasked() == (sooner, later)
        assert await tx.reveals.get("a") == later
        assert await tx.reveals.get("c") is None


async def test_what_was_masked_is_found_no_more_but_is_still_known(store: SqlStore) -> None:
    async with store.transaction() as tx:
        await tx.reveals.add(a_reveal("a"))
        await tx.reveals.add(a_reveal("b", message_id=None))
    masked = replace(a_reveal("a"), masked_at=NOW + SECOND * 60)
    async with store.transaction() as tx:
        await tx.reveals.save(masked)
    assert await unmasked(store) == ["b"]
    async with store.reading() as tx:
        assert await tx.reveals.get("a") == masked

"""Both databases list a reveal until it is masked."""

from dataclasses import replace

from bot.infra.db.database import Database
from bot.support.model import Reveal
from bot.support.repository import RevealRepository
from tests.times import NOW, SECOND


def a_reveal(reveal_id: str, *, seconds: int = 60, message_id: int | None = 7) -> Reveal:
    until = NOW + SECOND * seconds
    return Reveal(id=reveal_id, reference="R2345AB", staff_id=3001, message_id=message_id, at=NOW, until=until)


async def unmasked(store: Database) -> list[str]:
    async with store.reading() as tx:
        return [reveal.id for reveal in await RevealRepository(tx).unmasked()]


async def test_what_may_be_seen_is_found_the_longest_shown_first_whatever_the_clock_says(store: Database) -> None:
    later, sooner = a_reveal("a", seconds=61), a_reveal("b", seconds=59)
    async with store.transaction() as tx:
        await RevealRepository(tx).add(later)
        await RevealRepository(tx).add(sooner)
    async with store.reading() as tx:
        assert await RevealRepository(tx).unmasked() == (sooner, later)
        assert await RevealRepository(tx).get("a") == later
        assert await RevealRepository(tx).get("c") is None


async def test_what_was_masked_is_found_no_more_but_is_still_known(store: Database) -> None:
    async with store.transaction() as tx:
        await RevealRepository(tx).add(a_reveal("a"))
        await RevealRepository(tx).add(a_reveal("b", message_id=None))
    masked = replace(a_reveal("a"), masked_at=NOW + SECOND * 60)
    async with store.transaction() as tx:
        await RevealRepository(tx).save(masked)
    assert await unmasked(store) == ["b"]
    async with store.reading() as tx:
        assert await RevealRepository(tx).get("a") == masked

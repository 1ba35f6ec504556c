"""Saved replies have an author and a time, and each change is in the audit log."""

import pytest

from bot.core.errors import Rejection
from bot.staff.model import AuditAction
from bot.staff.repository import AuditRepository
from bot.support.saved_replies import MAX_COUNT, SavedReplyService
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.orders.order_system import OrderSystem

RINA, BUDI = 3001, 3002


@pytest.fixture
def answers(system: OrderSystem) -> SavedReplyService:
    return SavedReplyService(system.store, system.clock)


def by(system: OrderSystem, user_id: int = RINA, update: int = 7) -> User:
    return User(id=user_id, created_at=system.clock.now(), answered_update_id=update)


async def trail(system: OrderSystem) -> list[tuple[int, str, str]]:
    async with system.store.reading() as tx:
        found = await AuditRepository(tx).page()
    assert {entry.action for entry in found} <= {AuditAction.CHANGED}
    return [(entry.actor_id, entry.subject, entry.detail) for entry in reversed(found)]


async def test_each_language_is_kept_beside_the_other_and_each_change_written_down(
    system: OrderSystem, answers: SavedReplyService
) -> None:
    await answers.write("late", "id", "Maaf, {reference}", by(system))
    await answers.write("late", "en", "Sorry, {reference}", by(system, BUDI))
    await answers.write("late", "en", "So sorry", by(system))
    kept = await answers.get("late")
    assert kept is not None
    assert (dict(kept.texts), kept.updated_by) == ({"id": "Maaf, {reference}", "en": "So sorry"}, RINA)
    assert await answers.delete("late", BUDI)
    assert not await answers.delete("late", BUDI)
    assert await answers.all() == ()
    assert await trail(system) == [
        (RINA, "answer:late", "added"),
        (BUDI, "answer:late", "en"),
        (RINA, "answer:late", "en"),
        (BUDI, "answer:late", "deleted"),
    ]


async def test_who_typed_it_is_kept_with_it(system: OrderSystem, answers: SavedReplyService) -> None:
    await answers.write("late", "id", "Maaf", by(system, update=99))
    async with system.store.reading() as tx:
        rina = await UserRepository(tx).get(RINA)
    assert rina is not None
    assert rina.answered_update_id == 99


async def test_no_two_are_called_the_same_and_there_are_never_too_many(
    system: OrderSystem, answers: SavedReplyService
) -> None:
    for number in range(MAX_COUNT):
        await answers.check_can_add(f"answer-{number}")
        await answers.write(f"answer-{number}", "en", "x", by(system))
    with pytest.raises(Rejection, match=r"support\.saved_reply\.exists"):
        await answers.check_can_add("answer-0")
    with pytest.raises(Rejection, match=r"support\.saved_reply\.too_many"):
        await answers.check_can_add("another")

"""Users, their events and groups are read as they were saved."""

from dataclasses import replace
from typing import Any

from sqlalchemy import text

from bot.infra.db.database import Database
from bot.infra.telegram.inbound.model import ChatState
from bot.users.model import RecordedEvent, User
from bot.users.repository import GroupRepository, UserEventRepository, UserRepository
from tests.times import NOW, SECOND

EMMA = 1001


async def test_a_commit_is_on_the_disk_before_it_ends(store: Database) -> None:
    expected: dict[str, object] = {"PRAGMA synchronous": 2}  # FULL
    if store._writer.dialect.name == "postgresql":
        expected = {"SHOW transaction_isolation": "read committed", "SHOW synchronous_commit": "on"}
    async with store.transaction() as tx:
        assert {each: (await tx.connection.execute(text(each))).scalar_one() for each in expected} == expected


async def test_saving_a_user_leaves_the_state_of_their_chat_as_it_is(store: Database) -> None:
    emma = User(id=EMMA, created_at=NOW)
    chat = ChatState(user_id=EMMA, question_message_id=17, answered_buttons={"sub:end": NOW})
    async with store.transaction() as tx:
        await UserRepository(tx).save(emma)
        await UserRepository(tx).save_chat(chat)
        await UserRepository(tx).save_chat(ChatState(user_id=EMMA + 1, question_message_id=18))
    async with store.transaction() as tx:
        known = await UserRepository(tx).get(EMMA)
        assert known is not None
        await UserRepository(tx).save(replace(known, chat=None, locale="id"))
    async with store.reading() as tx:
        known = await UserRepository(tx).get(EMMA)
        assert await UserRepository(tx).get(EMMA + 1) is None, "nobody comes back by a question"
    assert known is not None
    assert (known.locale, known.chat) == ("id", chat)


USER_WITH_EVENTS, SARI = 1001, 1002


def an_event(what: str, second: int = 0, **changes: Any) -> RecordedEvent:
    return RecordedEvent(
        **{"user_id": USER_WITH_EVENTS, "reference": "R1", "at": NOW + SECOND * second, "event": what, **changes}
    )


async def record(store: Database, *events: RecordedEvent) -> None:
    async with store.transaction() as tx:
        for event in events:
            await UserEventRepository(tx).add(event)


async def test_an_orders_events_come_with_those_about_none_from_its_beginning_on(store: Database) -> None:
    none: dict[str, Any] = {"reference": ""}
    await record(
        store,
        an_event("pressed.check", 3),
        an_event("blocked", 2, **none),
        an_event("blocked", -1, **none),  # before the order
        an_event("pressed.early", -1),  # of the order itself, whenever
        an_event("pressed.other", 1, reference="R2"),
        an_event("pressed.hers", 1, user_id=SARI),
    )
    async with store.reading() as tx:
        found = await UserEventRepository(tx).find_by_order(USER_WITH_EVENTS, "R1", NOW)
    assert [event.event for event in found] == ["pressed.early", "blocked", "pressed.check"]
    assert found[-1] == an_event("pressed.check", 3)


GROUP, SUPERGROUP = -1001, -1_001_000


async def test_a_group_keeps_its_language_and_takes_it_to_its_new_id(store: Database) -> None:
    async with store.transaction() as tx:
        groups = GroupRepository(tx)
        assert await groups.get_locale(GROUP) is None
        await groups.save_locale(GROUP, "id")
        await groups.save_locale(GROUP, "en")
    async with store.transaction() as tx:
        await GroupRepository(tx).move(GROUP, SUPERGROUP)
        await GroupRepository(tx).move(GROUP, SUPERGROUP)
    async with store.reading() as tx:
        assert await GroupRepository(tx).get_locale(GROUP) is None
        assert await GroupRepository(tx).get_locale(SUPERGROUP) == "en"

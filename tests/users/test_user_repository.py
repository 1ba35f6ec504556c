"""Users in the database: how transactions are isolated, and what saving a user leaves unchanged."""

from dataclasses import replace

from sqlalchemy import text

from bot.infra.db.database import Database
from bot.infra.telegram.inbound.model import ChatState
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.times import NOW

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


async def test_saving_a_profile_inserts_a_user_or_leaves_what_they_have_set_as_it_is(store: Database) -> None:
    emma = User(id=EMMA, created_at=NOW, suggested_phrase="en-1", username="emma")
    async with store.transaction() as tx:
        await UserRepository(tx).save_profile(emma)
        assert await UserRepository(tx).get(EMMA) == emma
        await UserRepository(tx).save(replace(emma, phrase="blue cat", suggested_phrase=None))
        await UserRepository(tx).save_profile(replace(emma, username="emma_b", last_seen_at=NOW))
        known = await UserRepository(tx).get(EMMA)
    assert known == replace(emma, phrase="blue cat", suggested_phrase=None, username="emma_b", last_seen_at=NOW)

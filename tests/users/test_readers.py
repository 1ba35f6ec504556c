"""The language of a notification: that of its reader, and `DEFAULT_LOCALE` only in groups."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.infra.db.database import Database
from bot.users.model import User
from bot.users.readers import RenderContexts
from bot.users.repository import UserRepository
from tests.infra.builders import an_infra
from tests.settlement.fake_settlement import MovedClock

EMMA, NOBODY, GROUP = 1001, 1002, -1_002_000_000_001


@pytest.mark.parametrize(("app", "locale"), [("id", "id"), ("en-GB", "en"), ("de", "en"), (None, "en")])
async def test_the_default_language_is_for_groups_and_a_user_of_an_unknown_language_reads_english(
    sqlite_store: Database, app: str | None, locale: str
) -> None:
    async with sqlite_store.transaction() as tx:
        await UserRepository(tx).save(User(id=EMMA, created_at=datetime(2026, 1, 1, tzinfo=UTC), language_code=app))
    readers = RenderContexts(replace(an_infra(sqlite_store, MovedClock()), default_locale="id"))
    expected = {EMMA: locale, NOBODY: "en", GROUP: "id"}
    assert {chat: (await readers.open(chat))[0].t.locale for chat in expected} == expected
    assert {chat: (await readers.translator_for(chat)).locale for chat in expected} == expected

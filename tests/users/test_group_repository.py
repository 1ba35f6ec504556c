"""A group has a language of its own, and keeps it when Telegram gives the group another id."""

from bot.infra.db.database import Database
from bot.users.group_repository import GroupRepository, move_group

GROUP, SUPERGROUP = -1001, -1_001_000


async def test_a_group_keeps_its_language_and_takes_it_to_its_new_id(store: Database) -> None:
    async with store.transaction() as tx:
        groups = GroupRepository(tx)
        assert await groups.get_locale(GROUP) is None
        await groups.save_locale(GROUP, "id")
        await groups.save_locale(GROUP, "en")
    async with store.transaction() as tx:
        await move_group(tx, GROUP, SUPERGROUP)
        await move_group(tx, GROUP, SUPERGROUP)
    async with store.reading() as tx:
        assert await GroupRepository(tx).get_locale(GROUP) is None
        assert await GroupRepository(tx).get_locale(SUPERGROUP) == "en"

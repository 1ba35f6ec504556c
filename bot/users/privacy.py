"""Show, export and delete what is stored about a user.

A user who asks for deletion during an open order is deleted when the order has ended. The request is saved with the
user, and is carried out in the queue of their chat. Which rows are the user's, and what happens to them, follows from
the marks on the columns (`infra/db/user_rows.py`). Features declare what is special (`user_data.py`).
"""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Final

from bot.infra.db.transaction import Transaction
from bot.infra.db.user_rows import (
    JsonObject,
    count_rows,
    delete_rows,
    export_rows,
    find_keys,
    list_exported_tables,
    list_user_tables,
)
from bot.infra.feature import Infra
from bot.infra.outbox.model import Notification, format_subject
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.outbox.tables import outbox
from bot.infra.telegram.inbound.repository import Finish, no_job
from bot.infra.telegram.inbound.tables import inbox
from bot.infra.workers import run_each
from bot.users.model import DeletedUser, User, UserNotification
from bot.users.repository import DeletionRepository, UserRepository
from bot.users.tables import user_events, users
from bot.users.user_data import Blocker, StoredData, UserData, format_time

PAGE: Final = 20
"""How many rows are read and decrypted at once. Some kinds of rows take a millisecond each."""

LEFT_BY_A_TAP: Final = frozenset({users, user_events, inbox, outbox})
"""The tables that have rows of a user who has done nothing but tap a button."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What `/privacy` shows about a user: one part for each feature."""

    user: User
    stored: tuple[StoredData, ...] = ()


@dataclass(frozen=True, slots=True)
class DeletionBlockers:
    """What has to end before a user can be deleted."""

    blockers: tuple[Blocker, ...] = ()
    notifications: bool = False
    """Whether a notification hasn't reached the user yet."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing blocks the deletion."""
        return not self.blockers and not self.notifications


class PrivacyService:
    """Show, export and delete users' data. With `retention_days` 0 nothing is deleted automatically."""

    def __init__(self, infra: Infra, user_data: Sequence[UserData], retention_days: int) -> None:
        self.retention_days = retention_days
        self._database = infra.database
        self._clock = infra.clock
        self._user_data = user_data
        self._to_erase = False

    async def get_overview(self, user: User) -> Overview:
        """Return what `/privacy` shows about `user`. The exported file has more."""
        async with self._database.reading() as tx:
            known = await UserRepository(tx).get(user.id) or user
            declared = [each.stored for each in self._user_data]
            found = [await stored(tx, user.id) for stored in declared if stored is not None]
            return Overview(known, tuple(found))

    async def export(self, user: User) -> bytes:
        """Return the file with all that is stored about `user`. Call it in the user's own chat queue.

        It is read in pages, each in a transaction of its own, so that other work goes on in between.
        """
        special = {name: export for each in self._user_data for name, export in each.exports.items()}
        sections = dict[str, list[JsonObject]]()
        for table in list_exported_tables():
            export = special.get(table.name, partial(export_rows, table))
            found = sections[table.name] = list[JsonObject]()
            async with self._database.reading() as tx:
                keys = await find_keys(tx, table, user.id)
            for first in range(0, len(keys), PAGE):
                async with self._database.reading() as tx:
                    found += await export(tx, keys[first : first + PAGE])
                await asyncio.sleep(0)  # on SQLite, reads don't let others run
        return await asyncio.to_thread(make_file, user.id, sections, self._clock.now())

    async def find_blockers(self, user_id: int) -> DeletionBlockers:
        """Return what has to end before the user can be deleted."""
        async with self._database.reading() as tx:
            return await self._blockers(tx, user_id)

    async def delete(self, user: User) -> DeletionBlockers:
        """Delete `user` now. If something has to end first, save the request and return what that is.

        Call it in the user's own chat queue.
        """
        async with self._database.transaction() as tx:
            await self._begin(tx, user.id)
            blockers = await self._blockers(tx, user.id)
            if blockers.is_empty:
                await self._delete(tx, user.id)
            else:
                asked_at = user.deletion_requested_at or self._clock.now()
                await UserRepository(tx).save(replace(user, deletion_requested_at=asked_at))
        if blockers.is_empty:
            await self._erase()
        return blockers

    async def cancel_deletion(self, user: User) -> User:
        """Cancel the request for deletion, and return the user without it."""
        kept = replace(user, deletion_requested_at=None)
        async with self._database.transaction() as tx:
            await UserRepository(tx).save(kept)
        return kept

    async def has_nothing(self, user_id: int) -> bool:
        """Return whether no feature stores anything about the user, as after a deletion."""
        async with self._database.reading() as tx:
            tables = [table for table in list_user_tables() if table not in LEFT_BY_A_TAP]
            return not any([await count_rows(tx, table, user_id) for table in tables])

    async def find_deletable(self) -> tuple[int, ...]:
        """Return the users who asked for deletion and have nothing open."""
        async with self._database.reading() as tx:
            requested = await DeletionRepository(tx).find_requested()
        return await self._find_deletable_of("deletion", requested)

    async def _find_deletable_of(self, worker: str, user_ids: Collection[int]) -> tuple[int, ...]:
        async def check(user_id: int) -> tuple[int, ...]:
            async with self._database.reading() as tx:
                return (user_id,) if await self._is_deletable(tx, user_id) else ()

        return tuple(chain(*await run_each(worker, user_ids, check)))

    async def delete_as_requested(self, user_id: int, finish: Finish = no_job) -> bool:
        """Delete a user who asked for it, and queue one last message. Return whether the user was deleted.

        Call it in the user's own chat queue, where no other update of the user is being handled. `finish` ends the job
        in the same transaction.
        """
        return await self._delete_later(user_id, finish, is_requested=True)

    async def find_long_blocked(self) -> tuple[int, ...]:
        """Return the users who blocked the bot before the retention period, and have nothing open."""
        if not self.retention_days:
            return ()
        before = self._clock.now() - timedelta(days=self.retention_days)
        async with self._database.reading() as tx:
            blocked = await DeletionRepository(tx).find_blocked(before)
        return await self._find_deletable_of("retention", blocked)

    async def delete_long_blocked(self, user_id: int, finish: Finish = no_job) -> bool:
        """Delete a user who blocked the bot long ago, as `delete_as_requested` does.

        No message is sent, since none would arrive.
        """
        return await self._delete_later(user_id, finish, is_requested=False)

    async def _delete_later(self, user_id: int, finish: Finish, *, is_requested: bool) -> bool:
        async with self._database.transaction() as tx:
            user = await UserRepository(tx).get(user_id)
            if user is None or (user.deletion_requested_at if is_requested else user.blocked_at) is None:
                return False
            if not await self._begin(tx, user_id):
                return False
            await self._delete(tx, user_id)
            if is_requested:
                await OutboxRepository(tx).add([_deletion_notification(user, self._clock.now())])
            await finish(tx)
        await self._erase()
        return True

    async def clean_up(self) -> None:
        """Delete last messages that were sent, and repeat an erasure that a reader had prevented."""
        async with self._database.reading() as tx:
            last_messages = await DeletionRepository(tx).has_last_messages()
        if last_messages:
            async with self._database.transaction() as tx:
                await DeletionRepository(tx).delete_last_messages()
        if last_messages or self._to_erase:
            await self._erase()

    async def _begin(self, tx: Transaction, user_id: int) -> bool:
        """End what can't wait, and lock it. Return whether the user can be deleted now, which is read after that."""
        for each in self._user_data:
            if each.begin_deletion is not None:
                await each.begin_deletion(tx, user_id, self._clock.now())
        return await self._is_deletable(tx, user_id)

    async def _delete(self, tx: Transaction, user_id: int) -> None:
        await delete_user(tx, user_id, self._clock.now(), self._user_data)

    async def _blockers(self, tx: Transaction, user_id: int) -> DeletionBlockers:
        asked = [each.blocks_deletion for each in self._user_data if each.blocks_deletion is not None]
        found = [await blocks(tx, user_id) for blocks in asked]
        return DeletionBlockers(
            blockers=tuple(each for each in found if each is not None),
            notifications=await DeletionRepository(tx).has_notifications(user_id),
        )

    async def _is_deletable(self, tx: Transaction, user_id: int) -> bool:
        """Return whether a user can be deleted now: nothing is open, and they aren't in a conversation."""
        if not (await self._blockers(tx, user_id)).is_empty:
            return False
        for each in self._user_data:
            if each.is_busy is not None and await each.is_busy(tx, user_id):
                return False
        return True

    async def _erase(self) -> None:
        self._to_erase = not await self._database.erase_deleted()


def _deletion_notification(user: User, now: datetime) -> Notification[DeletedUser]:
    """Return the last message. It carries the language, since the user's row is deleted when it is sent."""
    payload = DeletedUser(user.locale, user.language_code)
    return UserNotification.DATA_DELETED.create(user.id, format_subject("person", user.id), payload, now)


async def delete_user(tx: Transaction, user_id: int, now: datetime, special: Sequence[UserData]) -> None:
    """Delete all that is stored about a user, who must have nothing open."""
    for each in special:
        if each.before_deletion is not None:
            await each.before_deletion(tx, user_id, now)
    await delete_rows(tx, user_id)


def make_file(user_id: int, sections: Mapping[str, Sequence[JsonObject]], made_at: datetime) -> bytes:
    """Return a user's data as JSON in UTF-8: the rows of each table. The user's own one is the profile.

    Money is in whole units of the currency named next to it. Rates are decimal text. Times are UTC in ISO 8601.
    """
    others = dict(sections)
    profile = next(iter(others.pop("users", ())), {})
    content = {
        "about": "What Kirim keeps of you",
        "made_at": format_time(made_at),
        "profile": {"telegram_id": user_id, **profile},
        **others,
    }
    # Half a surrogate pair has no UTF-8, but JSON can write it as an escape.
    return json.dumps(content, ensure_ascii=False, indent=2).encode(errors="backslashreplace")

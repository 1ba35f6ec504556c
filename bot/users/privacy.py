"""Show, export and delete what is stored about a user.

A user who asks for deletion during an open order is deleted when the order has ended. The request is saved with the
user, and is carried out in the queue of their chat. Each feature knows its own rows (`user_data.py`).
"""

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain

from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.jobs.repository import Finish, no_job
from bot.infra.outbox.model import Notification, format_subject
from bot.infra.outbox.repository import OutboxRepository
from bot.infra.workers import run_each
from bot.users.deletion_repository import DeletionRepository, delete_user
from bot.users.model import DeletedUser, User, UserNotification
from bot.users.repository import UserRepository
from bot.users.user_data import PAGE, Blocker, JsonObject, StoredData, count_rows, format_time, list_user_data


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

    def __init__(self, infra: Infra, retention_days: int) -> None:
        self.retention_days = retention_days
        self._database = infra.database
        self._clock = infra.clock
        self._features = infra.features
        self._to_erase = False

    async def get_overview(self, user: User) -> Overview:
        """Return what `/privacy` shows about `user`. The exported file has more."""
        async with self._database.reading() as tx:
            known = await UserRepository(tx).get(user.id) or user
            declared = [each.stored for each in list_user_data(self._features)]
            found = [await stored(tx, user.id) for stored in declared if stored is not None]
            return Overview(known, tuple(found))

    async def export(self, user: User) -> bytes:
        """Return the file with all that is stored about `user`. Call it in the user's own chat queue.

        It is read in pages, each in a transaction of its own, so that other work goes on in between.
        """
        sections, declared = JsonObject(), list_user_data(self._features)
        async with self._database.reading() as tx:
            known = await UserRepository(tx).get(user.id) or user
            for each in declared:
                if each.export_user is not None:
                    sections |= await each.export_user(tx, user.id)
        for name, rows in (section for each in declared for section in each.rows.items()):
            sections[name] = found = list[object]()
            async with self._database.reading() as tx:
                count = await count_rows(tx, rows.table, user.id)
            for skipped in range(0, count, PAGE):
                async with self._database.reading() as tx:
                    found += await rows.export(tx, user.id, PAGE, skipped)
                await asyncio.sleep(0)  # on SQLite, reads don't let others run
        return await asyncio.to_thread(make_file, known, sections, self._clock.now())

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
            for each in list_user_data(self._features):
                if each.has_any is not None and await each.has_any(tx, user_id):
                    return False
                if any([await count_rows(tx, rows.table, user_id) for rows in each.rows.values()]):
                    return False
        return True

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
        async with self._database.transaction() as tx:
            user = await UserRepository(tx).get(user_id)
            if user is None or user.deletion_requested_at is None or not await self._begin(tx, user_id):
                return False
            await self._delete(tx, user_id)
            await OutboxRepository(tx).add([_deletion_notification(user, self._clock.now())])
            await finish(tx)
        await self._erase()
        return True

    async def find_long_blocked(self) -> tuple[int, ...]:
        """Return the users who blocked the bot before the retention period, and have nothing open."""
        if not self.retention_days:
            return ()
        before = self._clock.now() - timedelta(days=self.retention_days)
        async with self._database.reading() as tx:
            blocked = await DeletionRepository(tx).find_blocked(before)
        return await self._find_deletable_of("retention", blocked)

    async def delete_long_blocked(self, user_id: int, finish: Finish = no_job) -> bool:
        """Delete a user who blocked the bot long ago. No message is sent, since none would arrive.

        `finish` ends the job in the same transaction.
        """
        async with self._database.transaction() as tx:
            user = await UserRepository(tx).get(user_id)
            if user is None or user.blocked_at is None or not await self._begin(tx, user_id):
                return False
            await self._delete(tx, user_id)
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
        for each in list_user_data(self._features):
            if each.begin_deletion is not None:
                await each.begin_deletion(tx, user_id, self._clock.now())
        return await self._is_deletable(tx, user_id)

    async def _delete(self, tx: Transaction, user_id: int) -> None:
        await delete_user(tx, user_id, self._clock.now(), list_user_data(self._features))

    async def _blockers(self, tx: Transaction, user_id: int) -> DeletionBlockers:
        asked = [each.blocks_deletion for each in list_user_data(self._features) if each.blocks_deletion is not None]
        found = [await blocks(tx, user_id) for blocks in asked]
        return DeletionBlockers(
            blockers=tuple(each for each in found if each is not None),
            notifications=await DeletionRepository(tx).has_notifications(user_id),
        )

    async def _is_deletable(self, tx: Transaction, user_id: int) -> bool:
        """Return whether a user can be deleted now: nothing is open, and they aren't in a conversation."""
        if not (await self._blockers(tx, user_id)).is_empty:
            return False
        for each in list_user_data(self._features):
            if each.is_busy is not None and await each.is_busy(tx, user_id):
                return False
        return True

    async def _erase(self) -> None:
        self._to_erase = not await self._database.erase_deleted()


def _deletion_notification(user: User, now: datetime) -> Notification[DeletedUser]:
    """Return the last message. It carries the language, since the user's row is deleted when it is sent."""
    return Notification(
        chat_id=user.id,
        subject=format_subject("person", user.id),
        kind=UserNotification.DATA_DELETED,
        payload=DeletedUser(user.locale, user.language_code),
        due_at=now,
        created_at=now,
    )


def make_file(user: User, sections: Mapping[str, object], made_at: datetime) -> bytes:
    """Return a user's data as JSON in UTF-8: the profile, and the sections of all features.

    Money is in whole units of the currency named next to it. Rates are decimal text. Times are UTC in ISO 8601.
    """
    content = {
        "about": "What Kirim keeps of you",
        "made_at": format_time(made_at),
        "profile": _profile(user),
        **sections,
    }
    # Half a surrogate pair has no UTF-8, but JSON can write it as an escape.
    return json.dumps(content, ensure_ascii=False, indent=2).encode(errors="backslashreplace")


def _profile(user: User) -> JsonObject:
    return {
        "telegram_id": user.id,
        "username": user.username,
        "known_since": format_time(user.created_at),
        "last_seen_at": format_time(user.last_seen_at),
        "language_of_app": user.language_code,
        "language_chosen": user.locale,
        "time_zone": user.time_zone or None,
        "phrase": user.phrase,
        "notices": dict(user.notification_preferences) if user.notification_preferences else None,
        "blocked_the_bot_at": format_time(user.blocked_at),
        "asked_to_be_deleted_at": format_time(user.deletion_requested_at),
    }

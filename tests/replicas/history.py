"""The history of leases and of work on chats, which triggers in the test's database write.

Each row has the time by the database's clock, and the id of the server's process (backend) that wrote. The relays know
which replica a backend serves. A row of work is saved or rolled back together with the work.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import asyncpg  # type: ignore[import-untyped]  # it has no types

TABLES: Final = """
CREATE TABLE lease_history (
    number bigserial PRIMARY KEY, at timestamptz NOT NULL, backend integer NOT NULL, lease text NOT NULL,
    key bigint NOT NULL, act text NOT NULL, owner text, epoch bigint, expires_at timestamptz,
    former_owner text, former_epoch bigint, former_expires_at timestamptz, waiting_since timestamptz
);
CREATE TABLE work_history (
    number bigserial PRIMARY KEY, at timestamptz NOT NULL, backend integer NOT NULL, kind text NOT NULL,
    chat_id bigint NOT NULL
);
-- When work could be seen: a frozen process saves later what it had made before.
CREATE TABLE work_added (
    of_kind text NOT NULL, of_id bigint NOT NULL, at timestamptz NOT NULL, PRIMARY KEY (of_kind, of_id)
);
CREATE FUNCTION record_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO work_added VALUES (TG_ARGV[0], NEW.id, clock_timestamp()) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE FUNCTION record_work() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO work_history (at, backend, kind, chat_id)
    VALUES (clock_timestamp(), pg_backend_pid(), TG_ARGV[0], NEW.chat_id);
    RETURN NULL;
END $$;
CREATE TRIGGER record_new_update AFTER INSERT ON inbox FOR EACH ROW
    WHEN (NEW.kind = 'update') EXECUTE FUNCTION record_added('update');
CREATE TRIGGER record_new_notification AFTER INSERT ON outbox FOR EACH ROW
    EXECUTE FUNCTION record_added('notification');
CREATE TRIGGER record_update AFTER UPDATE OF finished_at ON inbox FOR EACH ROW
    WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL) EXECUTE FUNCTION record_work('update');
CREATE TRIGGER record_notification AFTER UPDATE OF status ON outbox FOR EACH ROW
    -- What was interrupted is marked again, which counts an attempt.
    WHEN ((OLD.status <> NEW.status OR OLD.attempts <> NEW.attempts) AND NEW.status IN ('sending', 'sent')
        AND NEW.queue <> 'bulk')
    EXECUTE FUNCTION record_work('notification');
"""
LEASE_TRIGGER: Final = """
CREATE FUNCTION record_lease() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE waiting timestamptz;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.epoch = OLD.epoch AND NEW.owner = OLD.owner THEN
            RETURN NULL;  -- it was only kept
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        SELECT min(since) INTO waiting FROM (
            SELECT min(greatest(received_at, at)) AS since FROM inbox
            JOIN work_added ON of_kind = 'update' AND of_id = inbox.id
            WHERE chat_id = NEW.chat_id AND finished_at IS NULL
            UNION ALL
            SELECT since FROM (
                SELECT DISTINCT ON (queue, CASE queue WHEN 'edits' THEN subject END)
                    id, queue, subject, greatest(due_at, created_at, at) AS since
                FROM outbox JOIN work_added ON of_kind = 'notification' AND of_id = id
                WHERE chat_id = NEW.chat_id AND status IN ('waiting', 'sending') AND queue <> 'bulk'
                ORDER BY queue, CASE queue WHEN 'edits' THEN subject END, id
            ) AS heads
            -- A receipt, for example, waits for the message that the order was sent. So do edits.
            WHERE queue NOT IN ('edits', 'extra') OR NOT EXISTS (
                SELECT FROM outbox WHERE chat_id = NEW.chat_id AND status IN ('waiting', 'sending')
                AND queue = 'urgent' AND outbox.subject = heads.subject AND outbox.id < heads.id
            )
        ) AS work;
    END IF;
    INSERT INTO lease_history (
        at, backend, lease, key, act, owner, epoch, expires_at, former_owner, former_epoch, former_expires_at,
        waiting_since
    ) VALUES (
        clock_timestamp(), pg_backend_pid(), CASE coalesce(NEW.chat_id, OLD.chat_id) WHEN 0 THEN 'lead' ELSE 'chat' END,
        coalesce(NEW.chat_id, OLD.chat_id), TG_OP,
        CASE TG_OP WHEN 'DELETE' THEN NULL ELSE NEW.owner END,
        CASE TG_OP WHEN 'DELETE' THEN NULL ELSE NEW.epoch END,
        CASE TG_OP WHEN 'DELETE' THEN NULL ELSE NEW.expires_at END,
        CASE TG_OP WHEN 'INSERT' THEN NULL ELSE OLD.owner END,
        CASE TG_OP WHEN 'INSERT' THEN NULL ELSE OLD.epoch END,
        CASE TG_OP WHEN 'INSERT' THEN NULL ELSE OLD.expires_at END,
        waiting
    );
    RETURN NULL;
END $$;
CREATE TRIGGER record_lease AFTER INSERT OR UPDATE OR DELETE ON chat_leases FOR EACH ROW
    EXECUTE FUNCTION record_lease();
"""
CHAT, LEADER = "chat", "lead"


@dataclass(frozen=True, slots=True)
class LeaseChange:
    """A lease that was taken or given back. That it was kept isn't listed."""

    at: datetime
    backend: int
    lease: str
    key: int
    act: str
    owner: str | None
    epoch: int | None
    expires_at: datetime | None
    former_owner: str | None
    former_epoch: int | None
    former_expires_at: datetime | None
    waiting_since: datetime | None

    @property
    def is_takeover(self) -> bool:
        """Whether another owner took the lease from one that had not given it back."""
        return self.act == "UPDATE" and self.owner != self.former_owner

    @property
    def could_be_taken_at(self) -> datetime:
        """When the lease could be taken: it had ended, and there was work."""
        assert self.former_expires_at is not None
        if self.lease == CHAT and self.waiting_since is not None:
            return max(self.former_expires_at, self.waiting_since)
        return self.former_expires_at

    @property
    def seconds_late(self) -> float:
        """Seconds from when the lease could be taken to when it was taken."""
        return (self.at - self.could_be_taken_at).total_seconds()


@dataclass(frozen=True, slots=True)
class Work:
    """A committed step of work on a chat: an update that was finished, a notification that was begun or sent."""

    at: datetime
    backend: int
    kind: str
    chat_id: int


@dataclass(frozen=True, slots=True)
class History:
    """All changes of leases and all work on chats, in the order in which they happened."""

    changes: Sequence[LeaseChange]
    work: Sequence[Work]

    def changes_of(self, lease: str) -> dict[int, list[LeaseChange]]:
        """Return the changes of the leases of chats or of the lead, by chat."""
        found: dict[int, list[LeaseChange]] = defaultdict(list)
        for change in self.changes:
            if change.lease == lease:
                found[change.key].append(change)
        return found

    def takeovers(self, lease: str) -> list[LeaseChange]:
        """Return when such a lease was taken from an owner that had not given it back."""
        return [change for changes in self.changes_of(lease).values() for change in changes if change.is_takeover]

    def find_broken_promises(self, owners: Mapping[int, str]) -> list[str]:
        """Return each promise about leases that was broken. `owners` says which owner each backend served."""
        return [*self._find_interleaved(), *self._find_work_of_others(owners)]

    def _find_interleaved(self) -> Iterable[str]:
        for change in self.changes:
            if not change.is_takeover:
                continue
            assert change.former_expires_at is not None
            assert change.epoch is not None
            assert change.former_epoch is not None
            what = f"{change.lease} {change.key}: {change.owner} took it"
            if change.at < change.former_expires_at:
                yield f"{what} before the lease of {change.former_owner} ended"
            if change.epoch <= change.former_epoch:
                yield f"{what} with epoch {change.epoch} after {change.former_epoch}"

    def _find_work_of_others(self, owners: Mapping[int, str]) -> Iterable[str]:
        changes = self.changes_of(CHAT)
        if not changes:
            return
        for step in self.work:
            of_chat = changes.get(step.chat_id, [])
            before = bisect_right(of_chat, step.at, key=lambda change: change.at)
            owner = of_chat[before - 1].owner if before else None
            if owners.get(step.backend) != owner:
                yield (
                    f"chat {step.chat_id}: {owners.get(step.backend)} saved {step.kind} work at"
                    f" {step.at:%H:%M:%S.%f}, while {owner or 'nobody'} had the chat"
                )


def owners_of(changes: Iterable[LeaseChange], starts: Iterable[Iterable[int]]) -> dict[int, str]:
    """Return which owner each backend served. `starts` has the backends of each start of a replica.

    A replica takes leases over some of its connections. They tell the owner of the others.
    """
    takers = {change.backend: change.owner for change in changes if change.owner is not None}
    owners: dict[int, str] = {}
    for backends in starts:
        known = {takers[backend] for backend in backends if backend in takers}
        assert len(known) <= 1, f"one process took leases as {sorted(known)}"
        owners |= dict.fromkeys(backends, known.pop()) if known else {}
    return owners


async def record(database: str) -> None:
    """Record from now on, in a database with its tables."""
    connection = await asyncpg.connect(database)
    try:
        await connection.execute(TABLES)
        await connection.execute(LEASE_TRIGGER)
    finally:
        await connection.close()


async def read(database: str) -> History:
    """Return what was recorded."""
    connection = await asyncpg.connect(database)
    try:
        changes = await connection.fetch("SELECT * FROM lease_history ORDER BY number")
        work = await connection.fetch("SELECT * FROM work_history ORDER BY number")
    finally:
        await connection.close()
    return History(
        [LeaseChange(**{name: row[name] for name in LeaseChange.__slots__}) for row in changes],
        [Work(**{name: row[name] for name in Work.__slots__}) for row in work],
    )

"""Read and write broadcasts."""

from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import select, update

from bot.broadcasts.model import Audience, Broadcast, BroadcastStatus
from bot.broadcasts.tables import IS_DRAFT, IS_IN_PROGRESS, broadcasts
from bot.infra.db.repository import Repository
from bot.infra.db.statements import once
from bot.settlement import json_values as nested

WAS_CONFIRMED = broadcasts.c.status.not_in((BroadcastStatus.DRAFT, BroadcastStatus.DISCARDED))


class BroadcastRepository(Repository[Broadcast]):
    """The broadcasts of all operators."""

    table = broadcasts

    async def get(self, broadcast_id: str) -> Broadcast | None:
        """Return the broadcast with this id; None if there is none."""
        return await self._get(select(broadcasts).where(broadcasts.c.id == broadcast_id))

    async def add(self, broadcast: Broadcast) -> None:
        """Add a broadcast. Do nothing if its id exists already."""
        await self._insert(broadcast)

    async def save(self, broadcast: Broadcast) -> Broadcast | None:
        """Save a broadcast and return it with its next revision. Return None if it has changed since it was read."""
        saved = replace(broadcast, revision=broadcast.revision + 1)
        seen = update(broadcasts).where(broadcasts.c.id == broadcast.id, broadcasts.c.revision == broadcast.revision)
        return saved if await self._change(seen, self._seal(saved)) == 1 else None

    async def draft_of(self, operator_id: int) -> Broadcast | None:
        """Return the newest open draft of an operator."""
        drafts = select(broadcasts).where(broadcasts.c.operator_id == operator_id, IS_DRAFT)
        return await self._find_first(drafts.order_by(broadcasts.c.created_at.desc(), broadcasts.c.id).limit(1))

    async def newest(self, limit: int = 10, offset: int = 0) -> tuple[Broadcast, ...]:
        """Return confirmed broadcasts, newest first."""
        confirmed = select(broadcasts).where(WAS_CONFIRMED)
        newest = confirmed.order_by(broadcasts.c.created_at.desc(), broadcasts.c.id)
        return await self._find(newest.limit(limit).offset(offset))

    async def count(self) -> int:
        """Return the number of confirmed broadcasts."""
        return await self._count(WAS_CONFIRMED)

    async def in_progress(self) -> tuple[Broadcast, ...]:
        """Return scheduled, running and paused broadcasts, ordered by the time they start."""
        in_progress = once(
            lambda: select(broadcasts).where(IS_IN_PROGRESS).order_by(broadcasts.c.starts_at, broadcasts.c.id)
        )
        return await self._find(in_progress)

    async def stopped_early(self) -> tuple[Broadcast, ...]:
        """Return the broadcasts that an operator stopped and that have no report yet."""
        stopped = select(broadcasts).where(
            broadcasts.c.status == BroadcastStatus.STOPPED,
            broadcasts.c.started_at.is_not(None),
            broadcasts.c.ended_at.is_(None),
        )
        return await self._find(stopped)

    async def last_with_quote(self) -> Broadcast | None:
        """Return the broadcast with a quote that started last."""
        started = select(broadcasts).where(broadcasts.c.started_at.is_not(None), broadcasts.c.quote.is_not(None))
        return await self._find_first(started.order_by(broadcasts.c.started_at.desc()).limit(1))

    def _to_row(self, value: Broadcast) -> dict[str, Any]:
        return {**asdict(value), "quote": None if value.quote is None else nested.from_quote(value.quote)}

    def _to_value(self, known: dict[str, Any]) -> Broadcast:
        quote = None if known["quote"] is None else nested.to_quote(known["quote"])
        changed = {
            "status": BroadcastStatus(known["status"]),
            "audience": Audience(**known["audience"]),
            "quote": quote,
        }
        return Broadcast(**{**known, **changed})

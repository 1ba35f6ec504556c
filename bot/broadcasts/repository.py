"""Read and write broadcasts."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Integer, bindparam, func, select, update

from bot.broadcasts.model import Audience, Broadcast, BroadcastStatus
from bot.broadcasts.tables import IS_DRAFT, IS_IN_PROGRESS, broadcasts
from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.settlement import json_values as nested

UNCONFIRMED = (BroadcastStatus.DRAFT, BroadcastStatus.DISCARDED)

ONE = select(broadcasts).where(broadcasts.c.id == bindparam("id"))
DRAFT_OF = (
    select(broadcasts)
    .where(broadcasts.c.operator_id == bindparam("operator"), IS_DRAFT)
    .order_by(broadcasts.c.created_at.desc(), broadcasts.c.id)
    .limit(1)
)
WAS_CONFIRMED = broadcasts.c.status.not_in(UNCONFIRMED)
NEWEST = (
    select(broadcasts)
    .where(WAS_CONFIRMED)
    .order_by(broadcasts.c.created_at.desc(), broadcasts.c.id)
    .limit(bindparam("limit", type_=Integer()))
    .offset(bindparam("offset", type_=Integer()))
)
COUNT = select(func.count()).select_from(broadcasts).where(WAS_CONFIRMED)
IN_PROGRESS = select(broadcasts).where(IS_IN_PROGRESS).order_by(broadcasts.c.starts_at, broadcasts.c.id)
STOPPED_EARLY = select(broadcasts).where(
    broadcasts.c.status == BroadcastStatus.STOPPED,
    broadcasts.c.started_at.is_not(None),
    broadcasts.c.ended_at.is_(None),
)
LAST_WITH_QUOTE = (
    select(broadcasts)
    .where(broadcasts.c.started_at.is_not(None), broadcasts.c.quote.is_not(None))
    .order_by(broadcasts.c.started_at.desc())
    .limit(1)
)
SAVE = update(broadcasts).where(
    broadcasts.c.id == bindparam("key"), broadcasts.c.revision == bindparam("seen", type_=Integer())
)


class BroadcastRepository:
    """The broadcasts of all operators."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def get(self, broadcast_id: str) -> Broadcast | None:
        """Return the broadcast with this id; None if there is none."""
        row = (await self._connection.execute(ONE, {"id": broadcast_id})).mappings().first()
        return encryption.read_row(self._vault, broadcasts, dict(row), _broadcast) if row else None

    async def add(self, broadcast: Broadcast) -> None:
        """Add a broadcast. Do nothing if its id exists already."""
        await upsert.insert_new(self._connection, broadcasts, _row(broadcast))

    async def save(self, broadcast: Broadcast) -> Broadcast | None:
        """Save a broadcast and return it with its next revision. Return None if it has changed since it was read."""
        saved = replace(broadcast, revision=broadcast.revision + 1)
        values = {name: value for name, value in _row(saved).items() if name != "id"}
        written = await self._connection.execute(SAVE.values(values), {"key": broadcast.id, "seen": broadcast.revision})
        return saved if written.rowcount == 1 else None

    async def draft_of(self, operator_id: int) -> Broadcast | None:
        """Return the newest open draft of an operator."""
        return next(iter(await self._all(DRAFT_OF, {"operator": operator_id})), None)

    async def newest(self, limit: int = 10, offset: int = 0) -> tuple[Broadcast, ...]:
        """Return confirmed broadcasts, newest first."""
        return await self._all(NEWEST, {"limit": limit, "offset": offset})

    async def count(self) -> int:
        """Return the number of confirmed broadcasts."""
        return int((await self._connection.execute(COUNT)).scalar_one())

    async def in_progress(self) -> tuple[Broadcast, ...]:
        """Return scheduled, running and paused broadcasts, ordered by the time they start."""
        return await self._all(IN_PROGRESS, {})

    async def stopped_early(self) -> tuple[Broadcast, ...]:
        """Return the broadcasts that an operator stopped and that have no report yet."""
        return await self._all(STOPPED_EARLY, {})

    async def last_with_quote(self) -> Broadcast | None:
        """Return the broadcast with a quote that started last."""
        return next(iter(await self._all(LAST_WITH_QUOTE, {})), None)

    async def _all(self, statement: Any, parameters: Mapping[str, object]) -> tuple[Broadcast, ...]:  # noqa: ANN401  SQLAlchemy's
        found = (await self._connection.execute(statement, parameters)).mappings()
        return encryption.read_rows(self._vault, broadcasts, found, _broadcast)


def _row(broadcast: Broadcast) -> dict[str, Any]:
    quote = None if broadcast.quote is None else nested.from_quote(broadcast.quote)
    return {**asdict(broadcast), "quote": quote}


def _broadcast(row: Mapping[Any, Any]) -> Broadcast:
    known: dict[str, Any] = dict(row)
    quote = None if known["quote"] is None else nested.to_quote(known["quote"])
    changed = {"status": BroadcastStatus(known["status"]), "audience": Audience(**known["audience"]), "quote": quote}
    return Broadcast(**{**known, **changed})

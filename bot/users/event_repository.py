"""Read and write what users did, as events."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, Select, bindparam, delete, insert, or_, select

from bot.infra.db import encryption as sealing
from bot.infra.db.transaction import Transaction
from bot.users.model import PersonAct
from bot.users.tables import user_events

LIMIT = bindparam("limit", type_=Integer())
ACT = select(*(user_events.c[name] for name in ("id", "person_id", "reference", "at", "what")))
ACT_AT = user_events.c.at.type
OF_ORDER = (
    ACT.where(
        user_events.c.person_id == bindparam("person"),
        or_(
            user_events.c.reference == bindparam("about"),
            (user_events.c.reference == "") & (user_events.c.at >= bindparam("since", type_=ACT_AT)),
        ),
    )
).order_by(user_events.c.at, user_events.c.id)


OF_PERSON = (
    ACT.where(user_events.c.person_id == bindparam("person"))
    .order_by(user_events.c.at.desc(), user_events.c.id.desc())
    .limit(LIMIT)
)


FORGET_ACTS = delete(user_events).where(user_events.c.at < bindparam("before", type_=ACT_AT))


class UserEventRepository:
    """What people did about their orders."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, act: PersonAct) -> None:
        """Write it down."""
        await self._connection.execute(insert(user_events).inline(), asdict(act))

    async def of_order(self, person_id: int, reference: str, since: datetime) -> tuple[PersonAct, ...]:
        """Those about this order, and those about none since then (blocked the bot, came back); oldest first."""
        return await self._all(OF_ORDER, {"person": person_id, "about": reference, "since": since})

    async def of_person(self, person_id: int, limit: int = 50) -> tuple[PersonAct, ...]:
        """Newest first."""
        return await self._all(OF_PERSON, {"person": person_id, "limit": limit})

    async def forget(self, before: datetime) -> int:
        """Delete older ones; how many."""
        return (await self._connection.execute(FORGET_ACTS, {"before": before})).rowcount

    async def _all(self, statement: Select[Any], parameters: Mapping[str, object]) -> tuple[PersonAct, ...]:
        found = (await self._connection.execute(statement, parameters)).mappings()
        return sealing.readable(self._vault, user_events, found, _act)


def _act(known: dict[str, Any]) -> PersonAct:
    return PersonAct(**{name: value for name, value in known.items() if name != "id"})

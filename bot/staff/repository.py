"""What people did, the trail of what staff did, what was revealed for a minute, and saved answers."""

import itertools
import secrets
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BindParameter, Integer, Select, bindparam, delete, insert, or_, select

from bot.infra.db import encryption as sealing
from bot.infra.db import upsert as writing
from bot.infra.db.transaction import Transaction
from bot.staff.model import AuditAction, AuditEntry, PersonAct, Reveal, SavedReply
from bot.staff.tables import IS_REVEALED, audit, person_acts, reveals, saved_answers

LIMIT = bindparam("limit", type_=Integer())
ACT = select(*(person_acts.c[name] for name in ("id", "person_id", "reference", "at", "what")))
ACT_AT = person_acts.c.at.type
OF_ORDER = (
    ACT.where(
        person_acts.c.person_id == bindparam("person"),
        or_(
            person_acts.c.reference == bindparam("about"),
            (person_acts.c.reference == "") & (person_acts.c.at >= bindparam("since", type_=ACT_AT)),
        ),
    )
).order_by(person_acts.c.at, person_acts.c.id)
OF_PERSON = (
    ACT.where(person_acts.c.person_id == bindparam("person"))
    .order_by(person_acts.c.at.desc(), person_acts.c.id.desc())
    .limit(LIMIT)
)
FORGET_ACTS = delete(person_acts).where(person_acts.c.at < bindparam("before", type_=ACT_AT))

WRITTEN = itertools.count()
BEFORE: BindParameter[str] = bindparam("before")
TRAIL = select(audit).order_by(audit.c.id.desc()).limit(LIMIT)
BETWEEN = (
    select(audit)
    .where(audit.c.id > bindparam("beyond"), audit.c.id < bindparam("until"))
    .order_by(audit.c.id)
    .limit(LIMIT)
)

REVEAL = select(reveals).where(reveals.c.id == bindparam("key"))
UNMASKED = select(reveals).where(IS_REVEALED).order_by(reveals.c.until)

ANSWERS = select(saved_answers).order_by(saved_answers.c.name)
DELETE_ANSWER = delete(saved_answers).where(saved_answers.c.name == bindparam("called"))


class UserEventRepository:
    """What people did about their orders."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, act: PersonAct) -> None:
        """Write it down."""
        await self._connection.execute(insert(person_acts).inline(), asdict(act))

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
        return sealing.readable(self._vault, person_acts.name, found, _act)


class AuditRepository:
    """The trail of what staff did: added to, read, and nothing else."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, entry: AuditEntry) -> None:
        """Write it down; its id is made here, and sorts by time."""
        named = replace(entry, id=_audit_id(entry.at))
        row = sealing.seal_row(self._vault, audit.name, asdict(named))
        await self._connection.execute(insert(audit).inline(), row)

    async def page(self, *, before: str = "", actor_id: int = 0, limit: int = 10) -> tuple[AuditEntry, ...]:
        """Newest first, from the one before that id; of one actor, or of all (0)."""
        wanted = TRAIL
        known: dict[str, object] = {"limit": limit}
        if before:
            wanted, known = wanted.where(audit.c.id < BEFORE), {**known, "before": before}
        if actor_id:
            wanted, known = wanted.where(audit.c.actor_id == bindparam("actor")), {**known, "actor": actor_id}
        return await self._all(wanted, known)

    async def between(self, since: datetime, until: datetime, after: str, limit: int) -> tuple[AuditEntry, ...]:
        """Oldest first, those after that id ("" is the beginning): for a file."""
        known = {"beyond": max(after, _moment(since)), "until": _moment(until), "limit": limit}
        return await self._all(BETWEEN, known)

    async def _all(self, statement: Select[Any], parameters: Mapping[str, object]) -> tuple[AuditEntry, ...]:
        found = (await self._connection.execute(statement, parameters)).mappings()
        return sealing.readable(self._vault, audit.name, found, _entry)


def _act(known: dict[str, Any]) -> PersonAct:
    return PersonAct(**{name: value for name, value in known.items() if name != "id"})


def _entry(known: dict[str, Any]) -> AuditEntry:
    return AuditEntry(**{**known, "action": AuditAction(known["action"])})


def _audit_id(at: datetime) -> str:
    """Sorts by time, within a moment by the order of writing, and is nobody else's."""
    return f"{_moment(at)}-{next(WRITTEN) % 0x1000000:06x}{secrets.token_hex(1)}"


def _moment(at: datetime) -> str:
    """Sorts before the ids of this moment, and behind those of all before."""
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%S%f}"


class RevealRepository:
    """What is to be masked again, also after a restart."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, reveal: Reveal) -> None:
        """Keep a new one."""
        await writing.add(self._connection, reveals, asdict(reveal))

    async def get(self, reveal_id: str) -> Reveal | None:
        """One of them."""
        return next(iter(await self._all(REVEAL, {"key": reveal_id})), None)

    async def save(self, reveal: Reveal) -> None:
        """Insert or replace."""
        await writing.put(self._connection, reveals, asdict(reveal))

    async def unmasked(self) -> tuple[Reveal, ...]:
        """All that may still be seen, the longest shown first."""
        return await self._all(UNMASKED, {})

    async def _all(self, statement: Select[Any], parameters: Mapping[str, object]) -> tuple[Reveal, ...]:
        found = (await self._connection.execute(statement, parameters)).mappings()
        return sealing.readable(self._vault, reveals.name, found, _reveal)


def _reveal(known: dict[str, Any]) -> Reveal:
    return Reveal(**known)


class SavedReplyRepository:
    """The answers that support keeps."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def all(self) -> tuple[SavedReply, ...]:
        """By name."""
        found = (await self._connection.execute(ANSWERS)).mappings()
        return sealing.readable(self._vault, saved_answers.name, found, _saved_answer)

    async def get(self, name: str) -> SavedReply | None:
        """The one of this name."""
        return next((answer for answer in await self.all() if answer.name == name), None)

    async def save(self, answer: SavedReply) -> None:
        """Insert or replace."""
        await writing.put(self._connection, saved_answers, asdict(answer))

    async def delete(self, name: str) -> bool:
        """Delete one; whether there was one."""
        return (await self._connection.execute(DELETE_ANSWER, {"called": name})).rowcount == 1


def _saved_answer(known: dict[str, Any]) -> SavedReply:
    return SavedReply(**known)

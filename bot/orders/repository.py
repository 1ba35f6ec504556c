"""Read and write orders. An order is saved only if its version hasn't changed since it was read."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

import structlog
from sqlalchemy import (
    BigInteger,
    BindParameter,
    Boolean,
    Integer,
    Select,
    Text,
    bindparam,
    case,
    exists,
    func,
    insert,
    literal_column,
    null,
    or_,
    select,
    tuple_,
    union_all,
    update,
)

from bot.infra.db import encryption, upsert
from bot.infra.db.columns import MALFORMED, POSTGRESQL, constant
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.transaction import Transaction
from bot.orders.order import UNCERTAIN_PHASES, EventNote, Order, OrderEvent, Phase
from bot.orders.payer import Payer, payer_in_chat
from bot.orders.poll_intervals import is_tracked
from bot.orders.rows import (
    COLUMNS,
    POLLED_COLUMNS,
    to_order,
    to_order_if_readable,
    to_polled_order,
    to_polled_order_without_time,
    to_row,
    to_sealed_evidence,
    to_tracked_row,
)
from bot.orders.tables import (
    IS_FROM_LINK,
    IS_POLLED,
    IS_UNCLAIMED,
    MAY_BE_CREATED,
    MAY_BE_DEPOSITED,
    MAY_BE_OVERDUE,
    MAY_EXPIRE,
    order_events,
    orders,
)
from bot.settlement.steps import COMPLETED, FAILED
from bot.staff.alarm_model import AlarmKind
from bot.staff.tables import IS_RAISED, alarms

log = structlog.get_logger(__name__)

LinkQuery = Select[tuple[str]]
"""Finds the ids of the links of a user."""

LIMIT: BindParameter[int] = bindparam("limit", type_=Integer())
NOW = bindparam("now", type_=orders.c.next_poll_at.type)
NOT_ENDED = (Phase.INTENDED, Phase.UNKNOWN, Phase.UNRESOLVED, Phase.NEEDS_CONFIRMATION, Phase.OPEN)
IN_PHASES = orders.c.phase.in_(bindparam("phases", expanding=True))
NEWEST_FIRST = (orders.c.created_at.desc(), orders.c.reference.desc())
OLDEST_FIRST = (orders.c.created_at, orders.c.reference)

ALL = select(*COLUMNS)
ONE = ALL.where(orders.c.reference == bindparam("reference"))
SOME = ALL.where(orders.c.reference.in_(bindparam("references", expanding=True)))
OF_DRAFT = ALL.where(orders.c.draft_id == bindparam("draft")).order_by(orders.c.attempt.desc()).limit(1)
OF_PAGES = ALL.where(orders.c.page_token.in_(bindparam("tokens", expanding=True)))
CLAIMING = ALL.where(orders.c.service_id.in_(bindparam("ids", expanding=True)))
OF_USER = ALL.where(orders.c.user_id == bindparam("user")).order_by(*NEWEST_FIRST).limit(LIMIT)
IS_USERS = orders.c.user_id == bindparam("user", type_=orders.c.user_id.type)
IS_PAGES = orders.c.payer_hash == bindparam("hash", type_=orders.c.payer_hash.type)


def _of_each_payer(statement: Select[Any]) -> Mapping[bool, Select[Any]]:
    """Return the statement for a payer with a chat (True), and for one without. Each has an index of its own."""
    return {True: statement.where(IS_USERS), False: statement.where(IS_PAGES)}


OF_PAYER = _of_each_payer(ALL.order_by(*NEWEST_FIRST).limit(LIMIT).offset(bindparam("offset")))
# Pages begin at an order, not at a number, so that a new order doesn't shift them.
POSITION = tuple_(orders.c.created_at, orders.c.reference)
CURSOR = tuple_(bindparam("at", type_=orders.c.created_at.type), bindparam("reference", type_=Text()))
IS_NEWER = (orders.c.user_id == bindparam("user")) & (CURSOR < POSITION)
OF_USER_SINCE = OF_USER.where(POSITION <= CURSOR)
OF_USER_NEWER = ALL.where(IS_NEWER).order_by(*OLDEST_FIRST).limit(LIMIT)
COUNT_NEWER = select(func.count()).select_from(orders).where(IS_NEWER)
COUNT_OF_USER = select(func.count()).select_from(orders).where(orders.c.user_id == bindparam("user"))
PLACED_AFTER = _of_each_payer(
    ALL.where(orders.c.created_at > bindparam("after", type_=orders.c.created_at.type)).order_by(*OLDEST_FIRST)
)
MAY_COUNT = or_(
    orders.c.created_at > bindparam("after", type_=orders.c.created_at.type),
    orders.c.paid_at > bindparam("after", type_=orders.c.paid_at.type),
    orders.c.phase.in_([constant(phase) for phase in NOT_ENDED]),
)
COUNTED_BY_LIMITS = _of_each_payer(ALL.where(MAY_COUNT).order_by(*OLDEST_FIRST))
_others = orders.alias("others")
_newest = select(_others.c.reference).where(_others.c.user_id == bindparam("user"))
_newest = _newest.order_by(_others.c.created_at.desc(), _others.c.reference.desc()).limit(1)
COUNTED_AND_NEWEST = ALL.where(
    orders.c.user_id == bindparam("user"), or_(MAY_COUNT, orders.c.reference == _newest.scalar_subquery())
).order_by(*OLDEST_FIRST)
# A lock of two numbers never conflicts with the leader's lock of one. Payers with the same hash wait for each other.
LOCK_PAYER = {
    True: select(func.pg_advisory_xact_lock(literal_column("1"), func.hashint8(bindparam("user", type_=BigInteger())))),
    False: select(func.pg_advisory_xact_lock(literal_column("1"), func.hashtext(bindparam("hash", type_=Text())))),
}
# They are counted here, because SQLite would group them by reading all orders from links there ever were.
FROM_LINKS = select(orders.c.origin).where(
    IS_FROM_LINK, orders.c.created_at > bindparam("after", type_=orders.c.created_at.type)
)
# The rows are locked, so that none of them changes before it is saved.
DROPPED_WITH_LINKS = ALL.where(
    orders.c.phase.in_([constant(phase) for phase in sorted((*UNCERTAIN_PHASES, Phase.NEEDS_CONFIRMATION))])
)
DROPPED_WITH_LINKS = DROPPED_WITH_LINKS.order_by(*OLDEST_FIRST).with_for_update()
UNPAID = ALL.where(orders.c.phase == constant(Phase.OPEN), ~orders.c.is_paid)
UNPAID = UNPAID.order_by(*OLDEST_FIRST).with_for_update()
IS_SENT, HAS_FAILED = orders.c.state == constant(COMPLETED), orders.c.state == constant(FAILED)
# The alarm about a failed order that was paid, or may have been, ends when an operator has settled it.
UNSETTLED_OF_USER = OF_USER.where(
    HAS_FAILED,
    exists().where(
        IS_RAISED, alarms.c.kind == constant(AlarmKind.ORDER_FAILED), alarms.c.subject == orders.c.reference
    ),
)
TALLIES = (
    select(
        orders.c.origin,
        func.sum(case((IS_SENT, 1), else_=0)),
        func.sum(case((IS_SENT, orders.c.idr), else_=0)),
        func.sum(case((orders.c.is_paid & orders.c.ended_at.is_(None), 1), else_=0)),
        func.sum(case((orders.c.is_paid & HAS_FAILED, 1), else_=0)),
    )
    .where(orders.c.origin.in_(bindparam("origins", expanding=True)))
    .group_by(orders.c.origin)
)
PAID_BY = select(orders.c.reference).where(orders.c.origin == bindparam("link"), IS_USERS, orders.c.is_paid).limit(1)
LOCK_LINKS = select(func.pg_advisory_xact_lock(literal_column("3"), literal_column("0")))
LOCK_PAYMENT = select(func.pg_advisory_xact_lock(literal_column("2"), func.hashtext(bindparam("key", type_=Text()))))
WITH_PAYMENT_HASH = ALL.where(orders.c.payment_hash == bindparam("hash")).limit(1)
IS_OF_CHANNEL = orders.c.channel == bindparam("channel", type_=Text())
# An order that is shown or waits for an answer can be paid at any age.
MAY_BE_PAID_NOW = or_(
    orders.c.created_at > bindparam("since", type_=orders.c.created_at.type),
    orders.c.phase.not_in([constant(Phase.ABANDONED), constant(Phase.DONE)]),
)
DEPOSIT_SUMS = ((orders.c.sats, MAY_BE_DEPOSITED), (orders.c.expected_sats, MAY_BE_CREATED))
"""Where the sum of a deposit that can still be paid is, and in which orders."""

# Plain columns: orders that can't be decrypted count, too.
SUMS_USED = union_all(
    *(
        select(sums, MAY_BE_PAID_NOW).where(
            condition, IS_OF_CHANNEL, sums.between(bindparam("least", type_=BigInteger()), bindparam("last"))
        )
        for sums, condition in DEPOSIT_SUMS
    )
)
RIVALS = union_all(
    *(
        select(orders.c.reference, orders.c.service_id).where(
            condition,
            IS_OF_CHANNEL,
            sums == bindparam("sats", type_=BigInteger()),
            MAY_BE_PAID_NOW,
            orders.c.reference != bindparam("but", type_=Text()),
        )
        for sums, condition in DEPOSIT_SUMS
    )
)
OPEN_OF_PAYER = _of_each_payer(ALL.where(IN_PHASES).order_by(*NEWEST_FIRST).limit(LIMIT))
IS_DUE = IS_POLLED & (orders.c.next_poll_at <= NOW)
HAS_PAID_FLAG = orders.c.is_paid == bindparam("paid", type_=Boolean())
# Evidence is the longest column, and polling doesn't need it.
POLLED = select(*(null().label(column.key) if column.key == "evidence" else column for column in POLLED_COLUMNS))
DUE = POLLED.where(HAS_PAID_FLAG, IS_DUE).order_by(orders.c.next_poll_at).limit(LIMIT)
DUE_AFTER = POLLED.where(HAS_PAID_FLAG, IS_POLLED, orders.c.next_poll_at > NOW)
DUE_AFTER = DUE_AFTER.order_by(orders.c.next_poll_at.desc()).limit(LIMIT)
ONE_POLLED = POLLED.where(orders.c.reference == bindparam("reference"))
POLLED_CLAIMING = POLLED.where(orders.c.service_id.in_(bindparam("ids", expanding=True)))
COUNT_DUE = select(func.count()).select_from(orders).where(HAS_PAID_FLAG, IS_DUE)
# An open order that a user is viewing is polled at the usual interval.
IS_DUE_IF_VIEWED = IS_POLLED & (
    (orders.c.next_poll_at <= NOW)
    | (
        (orders.c.last_polled_at <= bindparam("before", type_=orders.c.last_polled_at.type))
        & (orders.c.phase == constant(Phase.OPEN))
    )
)
VIEWED = POLLED.where(orders.c.reference.in_(bindparam("references", expanding=True)), IS_DUE_IF_VIEWED).limit(LIMIT)
OF_USERS = (
    POLLED.where(orders.c.user_id.in_(bindparam("users", expanding=True)), IS_DUE_IF_VIEWED)
    .order_by(orders.c.created_at.desc())
    .limit(LIMIT)
)
IN_PHASE = ALL.where(IN_PHASES).order_by(*OLDEST_FIRST).limit(LIMIT)
NEWEST_IN_PHASE = ALL.where(IN_PHASES).order_by(*NEWEST_FIRST).limit(LIMIT)
EXPIRING = POLLED.where(MAY_EXPIRE, orders.c.expires_at <= NOW, orders.c.next_poll_at <= NOW)
EXPIRING = EXPIRING.order_by(orders.c.expires_at).limit(LIMIT)
OVERDUE = POLLED.where(MAY_BE_OVERDUE, orders.c.paid_at <= NOW).order_by(orders.c.paid_at).limit(LIMIT)
SIMILAR_UNCLAIMED = ALL.where(
    IS_UNCLAIMED,
    orders.c.method_code == bindparam("code"),
    orders.c.created_at >= bindparam("since"),
    orders.c.reference != bindparam("but"),
    orders.c.phase != constant(Phase.REFUSED),
).order_by(*OLDEST_FIRST)
POLL_AT = update(orders).where(orders.c.reference == bindparam("key")).values(next_poll_at=bindparam("look"))
SAVE = update(orders).where(orders.c.reference == bindparam("key"), orders.c.version == bindparam("seen"))
SAVE_POLL = SAVE.values(last_polled_at=bindparam("looked"), next_poll_at=bindparam("look"))
REQUEST_RESULTS = (
    select(orders.c.created_at, orders.c.phase, orders.c.service_id, orders.c.refusal)
    .where(orders.c.created_at >= bindparam("since", type_=orders.c.created_at.type))
    .order_by(*NEWEST_FIRST)
    .limit(LIMIT)
)
IS_PAID_BEFORE = orders.c.is_paid & (orders.c.paid_at <= NOW)
COUNT_NOT_ENDED = (
    select(orders.c.phase, orders.c.is_paid, func.count(), func.sum(case((IS_PAID_BEFORE, 1), else_=0)))
    .where(IN_PHASES)
    .group_by(orders.c.phase, orders.c.is_paid)
)

EVENTS = (
    select(*(order_events.c[name] for name in ("id", "reference", "at", "phase", "state", "note", "service_at")))
    .where(order_events.c.reference == bindparam("reference"))
    .order_by(order_events.c.id)
)
ADD_EVENT = insert(order_events).inline()


@dataclass(frozen=True, slots=True)
class OrderCounts:
    """How many orders haven't ended, by phase (open ones as "paid" and "unpaid"), and how many are overdue."""

    by_phase: Counter[str]
    overdue: int


@dataclass(frozen=True, slots=True)
class LinkTally:
    """What came in by a link: orders that were sent, with their rupiah, and paid orders in progress or failed."""

    sent: int = 0
    sent_idr: int = 0
    in_progress: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Rival:
    """An order that a payment for another deposit could settle. `service_id` is None while we don't know it."""

    reference: str
    service_id: str | None


@dataclass(frozen=True, slots=True)
class TrackedOrder:
    """An order to be tracked.

    Attributes:
        order: the order. If its row doesn't open, it has no recipient, invoice or deposit, because tracking needs none.
        is_whole: whether the whole row opens.
    """

    order: Order
    is_whole: bool


@dataclass(frozen=True, slots=True)
class RequestResult:
    """Whether the service answered the request for an order usably: it created the order, or said why it didn't."""

    created_at: datetime
    is_answered: bool


class OrderRepository:
    """Read and write orders, beginning with the intent."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault
        self._on_commit = tx.on_commit

    async def add(self, order: Order) -> bool:
        """Add an intent. Return False if there is an order with this reference, or with this draft and attempt."""
        return await upsert.insert_new(self._connection, orders, to_row(order, self._vault))

    async def get(self, reference: str) -> Order | None:
        """Return the order with this reference."""
        return await self._first(ONE, reference=reference)

    async def get_if_readable(self, reference: str) -> Order | None:
        """Return the order, or None if it can't be read. It is for screens that only mention the order."""
        return next(iter(await self._all(ONE, reference=reference)), None)

    async def with_references(self, references: Collection[str]) -> tuple[Order, ...]:
        """Return the orders with these references, without those that can't be read."""
        return await self._all(SOME, references=tuple(references))

    async def get_tracked(self, reference: str) -> TrackedOrder | None:
        """Return the order with this reference, also if its row doesn't open. Save it with `save_tracked`.

        Raises:
            RowUnreadable: even what tracking needs can't be read.
        """
        row = (await self._connection.execute(ONE, {"reference": reference})).first()
        return None if row is None else self._tracked(row)

    async def find_tracked(self, references: Collection[str]) -> tuple[TrackedOrder, ...]:
        """Return the orders with these references, as `get_tracked` does. Those that can't be read are left out."""
        rows = await self._connection.execute(SOME, {"references": tuple(references)})
        found = []
        for row in rows:
            with suppress(RowUnreadable):  # it is recorded, and `Observer.put_off_unreadable` deals with it
                found.append(self._tracked(row))
        return tuple(found)

    def _tracked(self, row: Sequence[Any]) -> TrackedOrder:
        try:
            return TrackedOrder(to_order(row, self._vault), is_whole=True)
        except RowUnreadable:
            order = to_polled_order(row[: len(POLLED_COLUMNS)], self._vault)
            if order is None:
                raise
            return TrackedOrder(order, is_whole=False)

    async def of_draft(self, draft_id: str) -> Order | None:
        """Return the latest attempt of a draft."""
        return await self._first(OF_DRAFT, draft=draft_id)

    async def by_service_id(self, service_ids: Collection[str]) -> Mapping[str, Order]:
        """Return the orders that have any of these ids of the service."""
        return _by_service_id(await self._all(CLAIMING, ids=tuple(service_ids)))

    async def polled_by_service_id(self, service_ids: Collection[str]) -> Mapping[str, Order]:
        """Return the orders that have any of these ids, with the same fields as `due`."""
        return _by_service_id(await self._polled(POLLED_CLAIMING, ids=tuple(service_ids)))

    async def of_user(self, user_id: int, *, limit: int = 10, offset: int = 0) -> tuple[Order, ...]:
        """Return a user's orders, the newest first."""
        return await self.of_payer(payer_in_chat(user_id), limit=limit, offset=offset)

    async def of_payer(self, payer: Payer, *, limit: int = 10, offset: int = 0) -> tuple[Order, ...]:
        """Return a payer's orders, the newest first."""
        return await self._all(OF_PAYER[payer.has_chat], **payer_key(payer), limit=limit, offset=offset)

    async def of_user_from(self, first: Order, limit: int) -> tuple[Order, ...]:
        """Return `first` and the user's older orders, the newest first."""
        return await self._all(OF_USER_SINCE, limit=limit, **_cursor(first))

    async def of_user_before(self, order: Order, limit: int) -> tuple[Order, ...]:
        """Return the next newer orders of the same user, the newest first."""
        return (await self._all(OF_USER_NEWER, limit=limit, **_cursor(order)))[::-1]

    async def count_of_user(self, user_id: int) -> int:
        """Return how many orders the user has."""
        return int((await self._connection.execute(COUNT_OF_USER, {"user": user_id})).scalar_one())

    async def count_newer(self, order: Order) -> int:
        """Return how many orders of the same user are newer."""
        return int((await self._connection.execute(COUNT_NEWER, _cursor(order))).scalar_one())

    async def placed_after(self, payer: Payer, after: datetime) -> tuple[Order, ...]:
        """Return a payer's orders that were created after this time, the oldest first."""
        return await self._all(PLACED_AFTER[payer.has_chat], **payer_key(payer), after=after)

    async def counted_by_limits(self, payer: Payer, after: datetime) -> tuple[Order, ...]:
        """Return a payer's orders that may count towards the limits, the oldest first.

        These are the orders that were created or paid after this time, and all that haven't ended.
        """
        return await self._all(COUNTED_BY_LIMITS[payer.has_chat], **payer_key(payer), after=after)

    async def counted_and_newest(self, user_id: int, after: datetime) -> tuple[Order, ...]:
        """Return what `counted_by_limits` returns for a user, and the user's newest order."""
        return await self._all(COUNTED_AND_NEWEST, user=user_id, after=after)

    async def lock_payer(self, payer: Payer) -> None:
        """Lock a payer until this transaction ends. SQLite has one writer at a time and needs no lock."""
        if self._connection.dialect.name == POSTGRESQL:
            await self._connection.execute(LOCK_PAYER[payer.has_chat], payer_key(payer))

    async def lock_payment(self, key: str) -> None:
        """Lock a payment by its key until this transaction ends, as `lock_payer` does."""
        if self._connection.dialect.name == POSTGRESQL:
            await self._connection.execute(LOCK_PAYMENT, {"key": key})

    async def lock_links(self) -> None:
        """Lock the creation of orders from links until this transaction ends, as `lock_payer` does."""
        if self._connection.dialect.name == POSTGRESQL:
            await self._connection.execute(LOCK_LINKS)

    async def count_from_links(self, after: datetime) -> Mapping[str, int]:
        """Return how many orders were created from each link after this time, whatever has become of them."""
        return Counter((await self._connection.execute(FROM_LINKS, {"after": after})).scalars())

    async def tally_links(self, origins: Collection[str]) -> Mapping[str, LinkTally]:
        """Return what came in by each of these links. Those without an order are left out."""
        found = await self._connection.execute(TALLIES, {"origins": tuple(origins)})
        return {origin: LinkTally(*map(int, counts)) for origin, *counts in found}

    async def has_paid_from(self, origin: str, user_id: int) -> bool:
        """Return whether a user has paid an order from this link."""
        return (await self._connection.execute(PAID_BY, {"link": origin, "user": user_id})).first() is not None

    async def unpaid_of_links(self, origins: LinkQuery, user_id: int) -> tuple[Order, ...]:
        """Return the open, unpaid orders from a user's links, to save them in this transaction."""
        return await self._all(UNPAID.where(orders.c.origin.in_(origins)), user=user_id)

    async def dropped_with_links(self, origins: Select[tuple[str]], user_id: int) -> tuple[Order, ...]:
        """Return the orders from a user's links that nobody has agreed to pay, to save them in this transaction."""
        return await self._all(DROPPED_WITH_LINKS.where(orders.c.origin.in_(origins)), user=user_id)

    async def with_payment_hash(self, payment_hash: str) -> Order | None:
        """Return the order whose invoice has this payment hash."""
        return await self._first(WITH_PAYMENT_HASH, hash=payment_hash)

    async def sums_used(self, channel: str, least: int, last: int, *, since: datetime) -> Mapping[int, bool]:
        """Return the sums from `least` to `last` sats of deposits that aren't known to be paid or ended.

        Each says whether an order with this sum may be paid now: it was created since then, or its phase says so.
        """
        known = {"channel": channel, "least": least, "last": last, "since": since}
        used: dict[int, bool] = {}
        for sats, is_recent in await self._connection.execute(SUMS_USED, known):
            used[sats] = used.get(sats, False) or bool(is_recent)
        return used

    async def rivals(self, channel: str, sats: int, *, but: str, since: datetime) -> tuple[Rival, ...]:
        """Return the other orders that a deposit of this sum could pay, in whatever phase if created since then."""
        known = {"channel": channel, "sats": sats, "but": but, "since": since}
        return tuple(Rival(*row) for row in await self._connection.execute(RIVALS, known))

    async def open_of_user(self, user_id: int, limit: int = 10) -> tuple[Order, ...]:
        """Return a user's orders that haven't ended, the newest first."""
        return await self.open_of_payer(payer_in_chat(user_id), limit)

    async def unsettled_of_user(self, user_id: int, limit: int = 10) -> tuple[Order, ...]:
        """Return a user's failed orders that operators still have an alarm about, the newest first."""
        return await self._all(UNSETTLED_OF_USER, user=user_id, limit=limit)

    async def open_of_payer(self, payer: Payer, limit: int = 10) -> tuple[Order, ...]:
        """Return a payer's orders that haven't ended, the newest first."""
        known = payer_key(payer)
        return await self._all(OPEN_OF_PAYER[payer.has_chat], **known, limit=limit, phases=_names(NOT_ENDED))

    async def save(self, order: Order) -> Order | None:
        """Save the order and return it with its next version. Return None if another transaction changed it."""
        return await self._save(order, lambda after: to_row(after, self._vault))

    async def save_tracked(self, before: TrackedOrder, after: Order) -> Order | None:
        """Save what tracking has changed, as `save` does. All other columns stay as they are.

        Evidence is only written if there is more of it. It is the longest of the columns.
        """
        evidence: dict[str, object] = {}
        if before.is_whole and after.evidence != before.order.evidence:
            evidence["evidence"] = to_sealed_evidence(after, self._vault)
        return await self._save(after, lambda order: {**to_tracked_row(order), **evidence})

    async def save_polls(self, polled: Collection[Order]) -> None:
        """Save when orders were polled, and when they are polled next. Their version stays as it is.

        An order that another transaction has changed keeps the times that it was given there.
        """
        if polled:
            rows = [
                {
                    "key": order.reference,
                    "seen": order.version,
                    "looked": order.last_polled_at,
                    "look": order.next_poll_at,
                }
                for order in polled
            ]
            await self._connection.execute(SAVE_POLL, rows)

    async def _save(self, order: Order, to_values: Callable[[Order], dict[str, object]]) -> Order | None:
        after = replace(order, version=order.version + 1)
        seen = {"key": order.reference, "seen": order.version}
        result = await self._connection.execute(SAVE, {**to_values(after), **seen})
        return after if result.rowcount == 1 else None

    async def due(self, now: datetime, *, is_paid: bool, limit: int = 1000) -> tuple[Order, ...]:
        """Return paid or unpaid orders that are due for polling, the longest waiting first.

        They have no recipient, invoice or deposit, because polling needs none of them. The same holds for
        `due_if_viewed` and `expiring`.
        """
        return await self._polled(DUE, now=now, paid=is_paid, limit=limit)

    async def count_not_ended(self, overdue_from: datetime) -> OrderCounts:
        """Count the orders that haven't ended. Paid ones are overdue if they were paid at `overdue_from` or before."""
        rows = await self._connection.execute(COUNT_NOT_ENDED, {"phases": NOT_ENDED, "now": overdue_from})
        by_phase, overdue = Counter[str](), 0
        for phase, is_paid, count, late in rows:
            is_open = phase == Phase.OPEN.value
            by_phase[("paid" if is_paid else "unpaid") if is_open else phase] += count
            overdue += int(late) if is_open else 0
        return OrderCounts(by_phase, overdue)

    async def count_due(self, now: datetime, *, is_paid: bool) -> int:
        """Return how many orders `due` would return without a limit."""
        return int((await self._connection.execute(COUNT_DUE, {"now": now, "paid": is_paid})).scalar_one())

    async def newest_results(self, since: datetime, limit: int) -> tuple[RequestResult, ...]:
        """Return the results of requests for orders since that time, the newest first, without those in progress."""
        rows = await self._connection.execute(REQUEST_RESULTS, {"since": since, "limit": limit})
        return tuple(
            RequestResult(row.created_at, row.service_id is not None or _was_rejected(row.phase, row.refusal))
            for row in rows
            if row.phase != Phase.INTENDED and row.created_at is not MALFORMED
        )

    async def due_after(self, moment: datetime, *, is_paid: bool, limit: int = 100) -> tuple[Order, ...]:
        """Return paid or unpaid orders that are due after `moment`, the latest first, with the same fields as `due`."""
        return await self._polled(DUE_AFTER, now=moment, paid=is_paid, limit=limit)

    async def due_if_viewed(
        self, references: Collection[str], users: Collection[int], now: datetime, polled_before: datetime, limit: int
    ) -> tuple[Order, ...]:
        """Return orders with these references or of these users that are due, or weren't polled since `polled_before`.

        There are up to `limit` orders by reference, and as many by user.
        """
        known: dict[str, object] = {"now": now, "before": polled_before, "limit": limit}
        viewed = await self._polled(VIEWED, references=tuple(references), **known) if references else ()
        theirs = await self._polled(OF_USERS, users=tuple(users), **known) if users else ()
        return tuple({order.reference: order for order in (*viewed, *theirs)}.values())

    async def in_phase(
        self, phases: Collection[Phase], limit: int = 1000, *, newest_first: bool = False
    ) -> tuple[Order, ...]:
        """Return the orders in these phases, the oldest first unless `newest_first`."""
        return await self._all(NEWEST_IN_PHASE if newest_first else IN_PHASE, phases=_names(phases), limit=limit)

    async def expiring(self, now: datetime, limit: int = 1000) -> tuple[Order, ...]:
        """Return due, unpaid orders that have expired and whose users weren't notified of it."""
        return await self._polled(EXPIRING, now=now, limit=limit)

    async def overdue(self, paid_before: datetime, limit: int = 1000) -> tuple[Order, ...]:
        """Return open orders that were paid at that time or before, and aren't marked as overdue yet."""
        return await self._polled(OVERDUE, now=paid_before, limit=limit)

    async def similar_unclaimed(self, order: Order, since: datetime) -> tuple[Order, ...]:
        """Return the other intents since then that an order of the service could belong to instead of `order`.

        They have the same method code and no service id. Abandoned ones count too, because the service may have
        created their orders. Refused ones don't.
        """
        return await self._all(SIMILAR_UNCLAIMED, code=order.method.code, since=since, but=order.reference)

    async def by_page_token(self, tokens: Collection[str]) -> Mapping[str, Order]:
        """Return the orders whose payment pages have any of these tokens."""
        found = await self._all(OF_PAGES, tokens=tuple(tokens))
        return {order.page_token: order for order in found if order.page_token is not None}

    async def poll_unreadable(self, reference: str, now: datetime, later: datetime) -> bool:
        """Put off the poll of an order until `later` if not even what polling needs can be read. Return whether it was.

        If only `next_poll_at` can't be read, the order is polled now, unless it has ended.
        """
        row = (await self._connection.execute(ONE_POLLED, {"reference": reference})).first()
        if row is None or row.next_poll_at is None or to_polled_order(row, self._vault) is not None:
            return False
        order = to_polled_order_without_time(row, self._vault)
        if order is not None:
            look = now if is_tracked(order) else None
        elif row.next_poll_at is MALFORMED or row.next_poll_at <= now:
            look = later
        else:
            return False
        await self._connection.execute(POLL_AT, {"key": reference, "look": look})
        return order is None

    async def add_event(self, event: OrderEvent) -> None:
        """Append an event to the order's timeline."""
        await self._connection.execute(ADD_EVENT, {**asdict(event), "phase": event.phase.value})

    async def record_event(
        self, order: Order, at: datetime, note: str = "", service_at: datetime | None = None
    ) -> None:
        """Append the phase and state of `order` to its timeline. `service_at` is the service's time of the state."""
        event = OrderEvent(
            reference=order.reference, at=at, phase=order.phase, state=order.state, note=note, service_at=service_at
        )
        await self.add_event(event)
        self._on_commit.append(partial(_log_event, order, event))

    async def events(self, reference: str) -> tuple[OrderEvent, ...]:
        """Return the order's timeline, the oldest event first."""
        found = (await self._connection.execute(EVENTS, {"reference": reference})).mappings()
        return encryption.read_rows(self._vault, order_events, found, _event)

    async def _first(self, statement: Select[Any], **values: object) -> Order | None:
        row = (await self._connection.execute(statement, values)).first()
        return to_order(row, self._vault) if row else None

    async def _polled(self, statement: Select[Any], **values: object) -> tuple[Order, ...]:
        found = await self._connection.execute(statement, values)
        return _readable(to_polled_order(row, self._vault) for row in found)

    async def _all(self, statement: Select[Any], **values: object) -> tuple[Order, ...]:
        found = await self._connection.execute(statement, values)
        return _readable(to_order_if_readable(row, self._vault) for row in found)


def _event(known: dict[str, Any]) -> OrderEvent:
    named = {name: value for name, value in known.items() if name != "id"}
    return OrderEvent(**{**named, "phase": Phase(known["phase"])})


def _log_event(order: Order, event: OrderEvent) -> None:
    """Log an event with its own order, because the work can be about another one, such as its next attempt."""
    if event.note == EventNote.INTENDED:
        log.info("order_confirmed", order=event.reference, channel=order.channel, attempt=order.attempt)
        return
    details = {name: value for name, value in (("state", event.state), ("note", event.note)) if value}
    log.info("order_changed", order=event.reference, phase=event.phase.value, **details)


def _readable(found: Iterable[Order | None]) -> tuple[Order, ...]:
    return tuple(order for order in found if order is not None)


def _by_service_id(found: Iterable[Order]) -> Mapping[str, Order]:
    return {order.service_id: order for order in found if order.service_id is not None}


def payer_key(payer: Payer) -> dict[str, int | str]:
    """Return the value by which a payer's orders are found.

    Raises:
        ValueError: the payer is nobody.
    """
    if payer.user_id is not None:
        return {"user": payer.user_id}
    if payer.secret_hash is None:
        raise ValueError("an order of nobody has no payer")
    return {"hash": payer.secret_hash}


def _cursor(order: Order) -> dict[str, object]:
    return {"user": order.user_id, "at": order.created_at, "reference": order.reference}


def _was_rejected(phase: str, refusal: str | None) -> bool:
    """Return whether the service rejected the request with a reason. A request that never arrived has none."""
    return phase == Phase.REFUSED and refusal is not None


def _names(phases: Collection[Phase]) -> tuple[str, ...]:
    return tuple(phase.value for phase in phases)

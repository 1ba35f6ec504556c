"""Read and write orders, and which of them users missed a message about.

An order is saved only if its version hasn't changed since it was read.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

import structlog
from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Integer,
    Select,
    Text,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
    union_all,
    update,
)

from bot.infra.db import encryption
from bot.infra.db.columns import MALFORMED, POSTGRESQL, constant
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.repository import Repository, once
from bot.infra.outbox.tables import IS_UNDELIVERABLE, outbox
from bot.orders.notifications import OrderNotification
from bot.orders.order import NOT_ENDED, UNCERTAIN_PHASES, EventNote, Order, OrderEvent, Payer, Phase
from bot.orders.poll_intervals import is_tracked
from bot.orders.rows import POLLED, OrderRows, to_sealed_evidence, to_tracked_row
from bot.orders.tables import (
    IS_FROM_LINK,
    IS_OF_PAGE,
    IS_PAID_AT,
    IS_POLLED,
    IS_UNCLAIMED,
    MAY_BE_CREATED,
    MAY_BE_DEPOSITED,
    MAY_BE_OVERDUE,
    MAY_EXPIRE,
    missed_orders,
    order_events,
    orders,
)
from bot.settlement.model import COMPLETED, FAILED, PayoutMethod
from bot.staff.model import AlarmKind
from bot.staff.outcomes import Outcome
from bot.staff.tables import IS_RAISED, alarms
from bot.users.tables import HAS_BLOCKED, users

log = structlog.get_logger(__name__)

LinkQuery = Select[str]
"""Finds the ids of links."""

NEWEST_FIRST = (orders.c.created_at.desc(), orders.c.reference.desc())
OLDEST_FIRST = (orders.c.created_at, orders.c.reference)

_is_open = orders.c.phase.in_([constant(phase) for phase in NOT_ENDED])
_after = bindparam("after", type_=orders.c.created_at.type)
MAY_COUNT = or_(orders.c.created_at > _after, orders.c.paid_at > _after, _is_open)
"""Whether an order may count towards limits."""

_others = orders.alias("others")
_newest = select(_others.c.reference).where(_others.c.user_id == bindparam("user"))
NEWEST_OF_USER = _newest.order_by(_others.c.created_at.desc(), _others.c.reference.desc()).limit(1).scalar_subquery()

HAS_PAID_FLAG = orders.c.is_paid == bindparam("paid", type_=Boolean())
IS_DUE = (HAS_PAID_FLAG, IS_POLLED, orders.c.next_poll_at <= bindparam("now"))

RECENT: Final = 20
"""Among so many newest orders of a user the last one to a recipient is searched."""

DEPOSIT_SUMS = ((orders.c.sats, MAY_BE_DEPOSITED), (orders.c.expected_sats, MAY_BE_CREATED))
"""Where the sum of a deposit that can still be paid is, and in which orders."""


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
class PaymentOfLink:
    """A payment of a link: its rupiah, when it came, and the state of its order."""

    link: str
    idr: int
    paid_at: datetime
    state: str


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


class OrderRepository(OrderRows):
    """Read and write orders, beginning with the intent."""

    async def add(self, order: Order) -> bool:
        """Add an intent. Return False if there is an order with this reference, or with this draft and attempt."""
        return await self._insert(order)

    async def get(self, reference: str) -> Order | None:
        """Return the order with this reference."""
        one = once(lambda: select(orders).where(orders.c.reference == bindparam("reference")))
        return await self._get(one, {"reference": reference})

    async def get_if_readable(self, reference: str) -> Order | None:
        """Return the order, or None if it can't be read. It is for screens that only mention the order."""
        return await self._find_first(select(orders).where(orders.c.reference == reference))

    async def with_references(self, references: Collection[str]) -> tuple[Order, ...]:
        """Return the orders with these references, without those that can't be read."""
        return await self._find(select(orders).where(orders.c.reference.in_(references)))

    async def get_tracked(self, reference: str) -> TrackedOrder | None:
        """Return the order with this reference, also if its row doesn't open. Save it with `save_tracked`.

        Raises:
            RowUnreadable: even what tracking needs can't be read.
        """
        one = once(lambda: select(orders).where(orders.c.reference == bindparam("reference")))
        row = (await self._connection.execute(one, {"reference": reference})).mappings().first()
        return None if row is None else self._tracked(row)

    async def find_tracked(self, references: Collection[str]) -> tuple[TrackedOrder, ...]:
        """Return the orders with these references, as `get_tracked` does. Those that can't be read are left out."""
        found = []
        some = once(lambda: select(orders).where(orders.c.reference.in_(bindparam("references", expanding=True))))
        rows = await self._connection.execute(some, {"references": tuple(references)})
        for row in rows.mappings():
            with suppress(RowUnreadable):  # it is recorded, and `OrderTracker.put_off_unreadable` deals with it
                found.append(self._tracked(row))
        return tuple(found)

    def _tracked(self, row: Mapping[Any, Any]) -> TrackedOrder:
        try:
            return TrackedOrder(encryption.read_row(self._vault, orders, dict(row), self._to_value), is_whole=True)
        except RowUnreadable:
            found = self._read_polled([row])
            if not found:
                raise
            return TrackedOrder(found[0], is_whole=False)

    async def of_draft(self, draft_id: str) -> Order | None:
        """Return the latest attempt of a draft."""
        attempts = select(orders).where(orders.c.draft_id == draft_id)
        return await self._get(attempts.order_by(orders.c.attempt.desc()).limit(1))

    async def by_service_id(self, service_ids: Collection[str]) -> Mapping[str, Order]:
        """Return the orders that have any of these ids of the service."""
        return _by_service_id(await self._find(select(orders).where(orders.c.service_id.in_(service_ids))))

    async def polled_by_service_id(self, service_ids: Collection[str]) -> Mapping[str, Order]:
        """Return the orders that have any of these ids, with the same fields as `due`."""
        return _by_service_id(await self._find_polled(select(*POLLED).where(orders.c.service_id.in_(service_ids))))

    async def of_user(self, user_id: int, *, limit: int = 10, offset: int = 0) -> tuple[Order, ...]:
        """Return a user's orders, the newest first."""
        theirs = select(orders).where(orders.c.user_id == user_id).order_by(*NEWEST_FIRST)
        return await self._find(theirs.limit(limit).offset(offset))

    async def last_to(self, user_id: int, method: PayoutMethod, number: str) -> Order | None:
        """Return a user's last order to this recipient, of their newest `RECENT`. Numbers are sealed in the rows.

        Orders from links are left out: their payers don't know the recipient.
        """
        recent = await self.of_user(user_id, limit=RECENT)
        own = (each for each in recent if each.number == number and not each.hides_recipient)
        return next((each for each in own if each.method.key() == method.key()), None)

    async def count_of_user(self, user_id: int) -> int:
        """Return how many orders the user has."""
        return await self._count(orders.c.user_id == user_id)

    async def count_newer(self, order: Order) -> int:
        """Return how many orders of the same user are newer."""
        columns = (orders.c.created_at, orders.c.reference)
        place = tuple_(literal(order.created_at, orders.c.created_at.type), literal(order.reference, Text()))
        return await self._count(orders.c.user_id == order.user_id, tuple_(*columns) > place)

    async def placed_after(self, payer: Payer, after: datetime) -> tuple[Order, ...]:
        """Return a payer's orders that were created after this time, the oldest first."""
        theirs = select(orders).where(is_of_payer(payer), orders.c.created_at > after)
        return await self._find(theirs.order_by(*OLDEST_FIRST))

    async def counted_by_limits(self, payer: Payer, after: datetime) -> tuple[Order, ...]:
        """Return a payer's orders that may count towards the limits, the oldest first.

        These are the orders that were created or paid after this time, and all that haven't ended.
        """
        counted = select(orders).where(is_of_payer(payer), MAY_COUNT).order_by(*OLDEST_FIRST)
        return await self._find(counted, {"after": after})

    async def counted_and_newest(self, user_id: int, after: datetime) -> tuple[Order, ...]:
        """Return what `counted_by_limits` returns for a user, and the user's newest order."""
        found = once(
            lambda: (
                select(orders)
                .where(orders.c.user_id == bindparam("user"), or_(MAY_COUNT, orders.c.reference == NEWEST_OF_USER))
                .order_by(*OLDEST_FIRST)
            )
        )
        return await self._find(found, {"user": user_id, "after": after})

    # A lock of two numbers never conflicts with the leader's lock of one.

    async def lock_payer(self, payer: Payer) -> None:
        """Lock a payer until this transaction ends. SQLite has one writer at a time and needs no lock.

        Payers with the same hash wait for each other.
        """
        if payer.user_id is not None:
            await self._lock(1, func.hashint8(literal(payer.user_id, BigInteger())))
        else:
            await self._lock(1, func.hashtext(literal(payer.secret_hash, Text())))

    async def lock_payment(self, key: str) -> None:
        """Lock a payment by its key until this transaction ends, as `lock_payer` does."""
        await self._lock(2, func.hashtext(literal(key, Text())))

    async def lock_links(self) -> None:
        """Lock the creation of orders from links until this transaction ends, as `lock_payer` does."""
        await self._lock(3, literal_column("0"))

    async def _lock(self, kind: int, which: ColumnElement[Any]) -> None:
        if self._connection.dialect.name == POSTGRESQL:
            await self._connection.execute(select(func.pg_advisory_xact_lock(literal_column(str(kind)), which)))

    async def count_from_links(self, after: datetime, *, by_browsers: bool = False) -> Mapping[str, int]:
        """Return how many orders were created from each link after this time, whatever has become of them.

        `by_browsers` counts only those of payers without a chat.
        """
        # They are counted here, because SQLite would group them by reading all orders from links there ever were.
        origins = select(orders.c.origin).where(IS_FROM_LINK, orders.c.created_at > after)
        counted = origins.where(IS_OF_PAGE) if by_browsers else origins
        return Counter((await self._connection.execute(counted)).scalars())

    async def count_unpaid_of_browsers(self, origin: str, after: datetime) -> int:
        """Return how many orders of payers without a chat were created from a link after this time and aren't paid."""
        is_unpaid = IS_OF_PAGE & ~orders.c.is_paid & (orders.c.phase != constant(Phase.REFUSED))
        return await self._count(orders.c.origin == origin, orders.c.created_at > after, is_unpaid)

    async def tally_links(self, links: Collection[str]) -> Mapping[str, LinkTally]:
        """Return what came in by each of these links. Those without an order are left out."""
        is_sent, has_failed = orders.c.state == constant(COMPLETED), orders.c.state == constant(FAILED)
        sums = (
            case((is_sent, 1), else_=0),
            case((is_sent, orders.c.idr), else_=0),
            case((orders.c.is_paid & orders.c.ended_at.is_(None), 1), else_=0),
            case((orders.c.is_paid & has_failed, 1), else_=0),
        )
        tallies = select(orders.c.origin, *map(func.sum, sums)).where(orders.c.origin.in_(links))
        found = await self._connection.execute(tallies.group_by(orders.c.origin))
        return {origin: LinkTally(*map(int, counts)) for origin, *counts in found}

    async def payments_of_links(
        self, origins: LinkQuery, *, limit: int, since: datetime | None = None
    ) -> tuple[PaymentOfLink, ...]:
        """Return the newest payments of these links, or those since a time."""
        idr = func.coalesce(orders.c.idr, orders.c.expected_idr)
        paid = select(orders.c.origin, idr, orders.c.paid_at, orders.c.state).where(
            orders.c.origin.in_(origins), IS_PAID_AT
        )
        if since is not None:
            paid = paid.where(orders.c.paid_at >= since)
        found = await self._connection.execute(paid.order_by(orders.c.paid_at.desc()).limit(limit))
        return tuple(PaymentOfLink(*row) for row in found if row.paid_at is not MALFORMED)

    async def of_payer_from(self, origin: str, payer: Payer) -> tuple[Order, ...]:
        """Return a payer's orders from this link, the newest first."""
        theirs = select(orders).where(orders.c.origin == origin, is_of_payer(payer))
        return await self._find(theirs.order_by(*NEWEST_FIRST).limit(RECENT))

    async def has_paid_from(self, origin: str, payer: Payer) -> bool:
        """Return whether a payer has paid an order from this link."""
        theirs = select(orders.c.reference).where(orders.c.origin == origin, is_of_payer(payer))
        return await self._connection.scalar(theirs.where(orders.c.is_paid).limit(1)) is not None

    async def unpaid_of_links(self, origins: LinkQuery) -> tuple[Order, ...]:
        """Return the open, unpaid orders from these links, to save them in this transaction."""
        unpaid = select(orders).where(orders.c.phase == constant(Phase.OPEN), ~orders.c.is_paid)
        return await self._find_locked(unpaid.where(orders.c.origin.in_(origins)))

    async def dropped_with_links(self, origins: LinkQuery) -> tuple[Order, ...]:
        """Return the orders from these links that nobody has agreed to pay, to save them in this transaction."""
        phases = sorted((*UNCERTAIN_PHASES, Phase.NEEDS_CONFIRMATION))
        dropped = select(orders).where(orders.c.phase.in_([constant(phase) for phase in phases]))
        return await self._find_locked(dropped.where(orders.c.origin.in_(origins)))

    async def _find_locked(self, statement: Select[Any]) -> tuple[Order, ...]:
        """Return orders, which are locked, so that none of them changes before it is saved."""
        return await self._find(statement.order_by(*OLDEST_FIRST).with_for_update())

    async def with_payment_hash(self, payment_hash: str) -> Order | None:
        """Return the order whose invoice has this payment hash."""
        return await self._get(select(orders).where(orders.c.payment_hash == payment_hash).limit(1))

    async def sums_used(self, channel: str, least: int, last: int, *, since: datetime) -> Mapping[int, bool]:
        """Return the sums from `least` to `last` sats of deposits that aren't known to be paid or ended.

        Each says whether an order with this sum may be paid now: it was created since then, or its phase says so.
        Orders that can't be decrypted count, too.
        """
        sums = (
            select(column, _may_be_paid(since)).where(
                condition, orders.c.channel == channel, column.between(least, last)
            )
            for column, condition in DEPOSIT_SUMS
        )
        used: dict[int, bool] = {}
        for sats, is_recent in await self._connection.execute(union_all(*sums)):
            used[sats] = used.get(sats, False) or bool(is_recent)
        return used

    async def rivals(self, channel: str, sats: int, *, but: str, since: datetime) -> tuple[Rival, ...]:
        """Return the other orders that a deposit of this sum could pay, in whatever phase if created since then."""
        others = (
            select(orders.c.reference, orders.c.service_id).where(
                condition,
                orders.c.channel == channel,
                column == sats,
                _may_be_paid(since),
                orders.c.reference != but,
            )
            for column, condition in DEPOSIT_SUMS
        )
        return tuple(Rival(*row) for row in await self._connection.execute(union_all(*others)))

    async def open_of_user(self, user_id: int, limit: int = 10) -> tuple[Order, ...]:
        """Return a user's orders that haven't ended, the newest first."""
        theirs = select(orders).where(orders.c.user_id == user_id, orders.c.phase.in_(NOT_ENDED))
        return await self._find(theirs.order_by(*NEWEST_FIRST).limit(limit))

    async def unsettled_of_user(self, user_id: int, limit: int = 10) -> tuple[Order, ...]:
        """Return a user's failed orders that operators still have an alarm about, the newest first."""
        # The alarm about a failed order that was paid, or may have been, ends when an operator has settled it.
        has_alarm = exists().where(
            IS_RAISED, alarms.c.kind == constant(AlarmKind.ORDER_FAILED), alarms.c.subject == orders.c.reference
        )
        failed = select(orders).where(orders.c.user_id == user_id, orders.c.state == constant(FAILED), has_alarm)
        return await self._find(failed.order_by(*NEWEST_FIRST).limit(limit))

    async def record_outcome(self, reference: str, outcome: Outcome | None) -> bool:
        """Save where the money of an order is, or with None that it isn't known after all.

        Return False if nothing changed: it was recorded before, or the order was neither paid nor has failed.
        """
        is_open = or_(orders.c.is_paid, orders.c.state == constant(FAILED)) & (orders.c.state != constant(COMPLETED))
        is_known = orders.c.outcome.is_not(None)
        one = update(orders).where(orders.c.reference == reference, is_open, is_known if outcome is None else ~is_known)
        return await self._change(one.values(outcome=outcome and outcome.value, version=orders.c.version + 1)) == 1

    async def save(self, order: Order) -> Order | None:
        """Save the order and return it with its next version. Return None if another transaction changed it."""
        return await self._save(order, self._seal)

    async def save_with_event(self, order: Order, now: datetime, note: str = "") -> Order | None:
        """Save the order as `save` does, and append its phase and state to its timeline."""
        saved = await self.save(order)
        if saved is not None:
            await self.record_event(saved, now, note)
        return saved

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
        rows = [
            {
                "key": order.reference,
                "seen": order.version,
                "last_polled_at": order.last_polled_at,
                "next_poll_at": order.next_poll_at,
            }
            for order in polled
        ]
        one = update(orders).where(orders.c.reference == bindparam("key"), orders.c.version == bindparam("seen"))
        if rows:
            await self._connection.execute(one, rows)

    async def _save(self, order: Order, to_values: Callable[[Order], dict[str, Any]]) -> Order | None:
        after = replace(order, version=order.version + 1)
        one = once(
            lambda: update(orders).where(
                orders.c.reference == bindparam("key"), orders.c.version == bindparam("seen", type_=Integer())
            )
        )
        seen = {"key": order.reference, "seen": order.version}
        return after if await self._change(one, {**to_values(after), **seen}) == 1 else None

    async def due(self, now: datetime, *, is_paid: bool, limit: int = 1000) -> tuple[Order, ...]:
        """Return paid or unpaid orders that are due for polling, the longest waiting first.

        They have no recipient, invoice or deposit, because polling needs none of them. The same holds for
        `due_if_viewed` and `expiring`.
        """
        due = once(lambda: select(*POLLED).where(*IS_DUE).order_by(orders.c.next_poll_at).limit(bindparam("limit")))
        return await self._find_polled(due, {"paid": is_paid, "now": now, "limit": limit})

    async def count_not_ended(self, overdue_from: datetime) -> OrderCounts:
        """Count the orders that haven't ended. Paid ones are overdue if they were paid at `overdue_from` or before."""
        is_late = orders.c.is_paid & (orders.c.paid_at <= overdue_from)
        counted = select(orders.c.phase, orders.c.is_paid, func.count(), func.sum(case((is_late, 1), else_=0)))
        not_ended = counted.where(orders.c.phase.in_(NOT_ENDED))
        by_phase, overdue = Counter[str](), 0
        for phase, is_paid, count, late in await self._connection.execute(
            not_ended.group_by(orders.c.phase, orders.c.is_paid)
        ):
            is_open = phase == Phase.OPEN.value
            by_phase[("paid" if is_paid else "unpaid") if is_open else phase] += count
            overdue += int(late) if is_open else 0
        return OrderCounts(by_phase, overdue)

    async def count_due(self, now: datetime, *, is_paid: bool) -> int:
        """Return how many orders `due` would return without a limit."""
        due = once(lambda: select(func.count()).select_from(orders).where(*IS_DUE))
        found: int = await self._connection.scalar(due, {"paid": is_paid, "now": now})
        return found

    async def newest_results(self, since: datetime, limit: int) -> tuple[RequestResult, ...]:
        """Return the results of requests for orders since that time, the newest first, without those in progress."""
        columns = (orders.c[name] for name in ("created_at", "phase", "service_id", "refusal"))
        newest = select(*columns).where(orders.c.created_at >= since).order_by(*NEWEST_FIRST).limit(limit)
        return tuple(
            RequestResult(row.created_at, row.service_id is not None or _was_rejected(row.phase, row.refusal))
            for row in await self._connection.execute(newest)
            if row.phase != Phase.INTENDED and row.created_at is not MALFORMED
        )

    async def due_after(self, moment: datetime, *, is_paid: bool, limit: int = 100) -> tuple[Order, ...]:
        """Return paid or unpaid orders that are due after `moment`, the latest first, with the same fields as `due`."""
        later = select(*POLLED).where(HAS_PAID_FLAG, IS_POLLED, orders.c.next_poll_at > moment)
        latest_first = later.order_by(orders.c.next_poll_at.desc()).limit(limit)
        return await self._find_polled(latest_first, {"paid": is_paid})

    async def due_if_viewed(
        self, references: Collection[str], users: Collection[int], now: datetime, polled_before: datetime, limit: int
    ) -> tuple[Order, ...]:
        """Return orders with these references or of these users that are due, or weren't polled since `polled_before`.

        There are up to `limit` orders by reference, and as many by user.
        """
        # An open order that a user is viewing is polled at the usual interval.
        was_polled = (orders.c.last_polled_at <= polled_before) & (orders.c.phase == constant(Phase.OPEN))
        due = select(*POLLED).where(IS_POLLED, (orders.c.next_poll_at <= now) | was_polled).limit(limit)
        viewed = await self._find_polled(due.where(orders.c.reference.in_(references))) if references else ()
        newest = due.order_by(orders.c.created_at.desc())
        theirs = await self._find_polled(newest.where(orders.c.user_id.in_(users))) if users else ()
        return tuple({order.reference: order for order in (*viewed, *theirs)}.values())

    async def in_phase(
        self, phases: Collection[Phase], limit: int = 1000, *, newest_first: bool = False
    ) -> tuple[Order, ...]:
        """Return the orders in these phases, the oldest first unless `newest_first`."""
        found = select(orders).where(orders.c.phase.in_(phases))
        return await self._find(found.order_by(*(NEWEST_FIRST if newest_first else OLDEST_FIRST)).limit(limit))

    async def expiring(self, now: datetime, limit: int = 1000) -> tuple[Order, ...]:
        """Return due, unpaid orders that have expired and whose users weren't notified of it."""
        expired = select(*POLLED).where(MAY_EXPIRE, orders.c.expires_at <= now, orders.c.next_poll_at <= now)
        return await self._find_polled(expired.order_by(orders.c.expires_at).limit(limit))

    async def overdue(self, paid_before: datetime, limit: int = 1000) -> tuple[Order, ...]:
        """Return open orders that were paid at that time or before, and aren't marked as overdue yet."""
        overdue = select(*POLLED).where(MAY_BE_OVERDUE, orders.c.paid_at <= paid_before)
        return await self._find_polled(overdue.order_by(orders.c.paid_at).limit(limit))

    async def similar_unclaimed(self, order: Order, since: datetime) -> tuple[Order, ...]:
        """Return the other intents since then that an order of the service could belong to instead of `order`.

        They have the same method code and no service id. Abandoned ones count too, because the service may have
        created their orders. Refused ones don't.
        """
        similar = select(orders).where(
            IS_UNCLAIMED,
            orders.c.method_code == order.method.code,
            orders.c.created_at >= since,
            orders.c.reference != order.reference,
            orders.c.phase != constant(Phase.REFUSED),
        )
        return await self._find(similar.order_by(*OLDEST_FIRST))

    async def by_page_token(self, tokens: Collection[str]) -> Mapping[str, Order]:
        """Return the orders whose payment pages have any of these tokens."""
        found = await self._find(select(orders).where(orders.c.page_token.in_(tokens)))
        return {order.page_token: order for order in found if order.page_token is not None}

    async def poll_unreadable(self, reference: str, now: datetime, later: datetime) -> bool:
        """Put off the poll of an order until `later` if not even what polling needs can be read. Return whether it was.

        If only `next_poll_at` can't be read, the order is polled now, unless it has ended.
        """
        one = select(*POLLED).where(orders.c.reference == reference)
        row = (await self._connection.execute(one)).mappings().first()
        if row is None or row["next_poll_at"] is None or self._read_polled([row]):
            return False
        found = self._read_polled([{**row, "next_poll_at": None}])
        if found:
            look = now if is_tracked(found[0]) else None
        elif row["next_poll_at"] is MALFORMED or row["next_poll_at"] <= now:
            look = later
        else:
            return False
        await self._change(update(orders).where(orders.c.reference == reference).values(next_poll_at=look))
        return not found

    async def add_event(self, event: OrderEvent) -> None:
        """Append an event to the order's timeline."""
        await self._connection.execute(insert(order_events).inline(), {**asdict(event), "phase": event.phase.value})

    async def record_event(
        self, order: Order, at: datetime, note: str = "", service_at: datetime | None = None
    ) -> None:
        """Append the phase and state of `order` to its timeline. `service_at` is the service's time of the state."""
        event = OrderEvent(
            reference=order.reference, at=at, phase=order.phase, state=order.state, note=note, service_at=service_at
        )
        await self.add_event(event)
        self._tx.on_commit.append(partial(_log_event, order, event))

    async def events(self, reference: str) -> tuple[OrderEvent, ...]:
        """Return the order's timeline, the oldest event first."""
        timeline = select(order_events).where(order_events.c.reference == reference).order_by(order_events.c.id)
        found = (await self._connection.execute(timeline)).mappings()
        return encryption.read_rows(self._vault, order_events, found, _event)


def is_of_payer(payer: Payer) -> ColumnElement[bool]:
    """Return whether an order is this payer's.

    Raises:
        ValueError: the payer is nobody.
    """
    if payer.user_id is not None:
        return orders.c.user_id == payer.user_id
    if payer.secret_hash is None:
        raise ValueError("an order of nobody has no payer")
    return orders.c.payer_hash == payer.secret_hash


def _may_be_paid(since: datetime) -> ColumnElement[bool]:
    """Return whether a deposit may be paid now. One that is shown or waits for an answer can be, at any age."""
    phases = [constant(phase) for phase in (Phase.ABANDONED, Phase.DONE)]
    return or_(orders.c.created_at > since, orders.c.phase.not_in(phases))


def _event(known: dict[str, Any]) -> OrderEvent:
    del known["id"]
    return OrderEvent(**{**known, "phase": Phase(known["phase"])})


def _log_event(order: Order, event: OrderEvent) -> None:
    """Log an event with its own order, because the work can be about another one, such as its next attempt."""
    if event.note == EventNote.INTENDED:
        log.info("order_confirmed", order=event.reference, channel=order.channel, attempt=order.attempt)
        return
    details = {name: value for name, value in (("state", event.state), ("note", event.note)) if value}
    log.info("order_changed", order=event.reference, phase=event.phase.value, **details)


def _by_service_id(found: Iterable[Order]) -> Mapping[str, Order]:
    return {order.service_id: order for order in found if order.service_id is not None}


def _was_rejected(phase: str, refusal: str | None) -> bool:
    """Return whether the service rejected the request with a reason. A request that never arrived has none."""
    return phase == Phase.REFUSED and refusal is not None


LINK: Final = "link:"
"""What `MissedOrder.reference` begins with if it is a link. Orders' references have no colon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedOrder:
    """An order about which a user missed a message. `at` is when Telegram last rejected one.

    For an asker, `reference` is the id of the link that the order was made from, behind `LINK`.
    """

    user_id: int
    reference: str
    at: datetime

    @property
    def link(self) -> str | None:
        """The id of the asker's link, or None if the user's own order is meant."""
        return self.reference.removeprefix(LINK) if self.reference.startswith(LINK) else None


class MissedOrderRepository(Repository[MissedOrder]):
    """Read and write orders about which Telegram rejected a message, until their users have seen them."""

    table, kind = missed_orders, MissedOrder

    async def save(self, missed: MissedOrder) -> None:
        """Insert the missed order, or replace its time."""
        await self._replace(missed)

    async def of_user(self, user_id: int) -> tuple[MissedOrder, ...]:
        """Return what the user missed, oldest first."""
        of_user = once(
            lambda: (
                select(missed_orders)
                .where(missed_orders.c.user_id == bindparam("user"))
                .order_by(missed_orders.c.at, missed_orders.c.reference)
            )
        )
        return await self._find(of_user, {"user": user_id})

    async def delete(self, seen: Sequence[MissedOrder]) -> None:
        """Delete orders that the user has seen, except those about which another message was rejected since."""
        for each in seen:
            of_user = delete(missed_orders).where(missed_orders.c.user_id == each.user_id)
            await self._change(
                of_user.where(missed_orders.c.reference == each.reference, missed_orders.c.at == each.at)
            )

    async def count_not_removed(self) -> int:
        """Return how many invoices can't be removed because their users have blocked the bot."""
        # Removals that Telegram refused have an alarm.
        is_removal = (outbox.c.kind == constant(OrderNotification.REMOVE_INVOICE)) & (outbox.c.mark == constant(""))
        not_removed = (
            select(func.count())
            .select_from(outbox.join(users, users.c.id == outbox.c.chat_id))
            .where(IS_UNDELIVERABLE, is_removal, HAS_BLOCKED)
        )
        return (await self._connection.execute(not_removed)).scalar_one()

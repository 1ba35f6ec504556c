"""Compare the service's list with our rows, read suspected orders again, and save what remains.

A reconciliation changes no order, unless it sees a late payment before the poller does. A run can be repeated at any
time, in any process: what it finds depends only on the service and our rows. If two overlap, the one whose list is
older isn't saved.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

import structlog

from bot.core.backoff import Backoff
from bot.core.clock import Clock
from bot.core.csv import CsvFile
from bot.core.date_ranges import Span
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.operations.reconciliation.books import Books
from bot.operations.reconciliation.comparison import (
    are_both_unpaid,
    awaits_deposit,
    compare_order,
    compute_interval,
    find_shared_deposits,
    find_shown_span,
    missing,
    shared_deposit,
    span_of_absent,
)
from bot.operations.reconciliation.model import (
    ALARM_OF,
    Difference,
    DifferenceKind,
    Pending,
    Reading,
    Report,
    Run,
    UnseenSpan,
    find_unseen,
    merge_spans,
)
from bot.operations.reconciliation.repository import ReconciliationRepository
from bot.orders.deposits import LONGEST_LIST
from bot.orders.order import Order
from bot.orders.placement.matching import OrderListing, read_list
from bot.orders.repository import OrderRepository
from bot.orders.tracking.tracker import OrderTracker
from bot.settlement.access import SettlementAccess
from bot.settlement.errors import KeyRefused, NoAnswer, OrderNotFound, SettlementFailure, SlowDown
from bot.settlement.model import OrderReport
from bot.staff.alarms import clear_alarm, raise_alarm
from bot.staff.audit import AuditTerms, describe_span, name_as_written, record_audit
from bot.staff.model import Alarm, AlarmKind, AuditAction
from bot.staff.repository import AlarmRepository

log = structlog.get_logger(__name__)
T = TypeVar("T")

REQUEST_TIMEOUT_SECONDS: Final = 10.0
MAX_ABSENT: Final = 200
MAX_DEPOSITS: Final = 1_000
MAX_READ_AGAIN: Final = 30
"""Orders that one run reads again. With more suspicions than that, something larger is wrong."""

MAX_ALARMS: Final = 10
"""Open alarms of one kind. More wouldn't be read. `/reconcile` shows all differences."""

CHECK_EVERY: Final = timedelta(minutes=10)
"""How often the order of a known difference is read again."""

KEEP_FOR: Final = timedelta(days=30)
"""How long runs and spans are kept."""

BUDGET_SHARE: Final = 10
"""The list is read with at most a tenth of the request budget."""

CLOCK_SLACK: Final = timedelta(minutes=1)
"""How far the clocks of two processes can differ. A run from further ahead came from a clock that was wrong."""

MAX_LATE: Final = timedelta(minutes=5)
"""How late a run can be before it counts as a pause of the bot."""

MIN_PAUSE: Final = timedelta(seconds=10)
"""An operator's request shows a run that is younger than this."""

BATCH_SIZE: Final = 500
MAX_ORDERS: Final = 1_000_000
"""Orders in one file of the books. Only their sums are kept in memory."""

BOOKS_SUBJECT: Final = "books:"
AUDIT_TERMS: Final = AuditTerms(subjects={"books": name_as_written})
"""How the audit log shows an export of the books."""

ALARM_KINDS: Final = frozenset(ALARM_OF.values())


@dataclass(slots=True)
class _Findings:
    """What a run has found so far."""

    differences: dict[tuple[DifferenceKind, str], Difference] = field(default_factory=dict)
    pending: dict[str, Pending] = field(default_factory=dict)
    unlisted: int = 0
    unchecked: int = 0

    def add(self, found: Iterable[Difference]) -> None:
        for difference in found:
            self.differences.setdefault(difference.key, difference)


class ReconciliationService:
    """Run reconciliations, and write the books. The budget of the leader limits the requests."""

    def __init__(
        self, infra: Infra, access: SettlementAccess, tracker: OrderTracker, operator_ids: frozenset[int]
    ) -> None:
        self._database = infra.database
        self._clock = infra.clock
        self._settlement = access.settlement
        self._budget = access.budget
        self._tracker = tracker
        self._operators = operator_ids

    async def find_due(self) -> datetime:
        """Return when the next run is due."""
        async with self._database.reading() as tx:
            newest = await ReconciliationRepository(tx).newest()
        now = self._clock.now()
        return now if newest is None or newest.asked_at > now + CLOCK_SLACK else newest.next_at

    async def run(self) -> Run:
        """Compare the service's list with our rows, and save the result. Return the newest saved run.

        Raises:
            SettlementFailure: the service didn't answer the request for the list. Nothing is saved then.
        """
        listing = await self._read_list()
        async with self._database.reading() as tx:
            before = await ReconciliationRepository(tx).newest()
        run = await (self._compare(listing, before) if listing.reports else self._keep(listing, before))
        saved = await self._save(run)
        log.info(
            "orders_reconciled",
            listed=run.listed,
            ours=run.ours,
            others=run.others,
            differences=len(run.differences),
            unchecked=run.unchecked,
        )
        return saved

    async def run_if_old(self) -> None:
        """Run a reconciliation, unless the newest is only seconds old. Raises as `run` does."""
        async with self._database.reading() as tx:
            newest = await ReconciliationRepository(tx).newest()
        if newest is None or self._clock.now() - newest.asked_at >= MIN_PAUSE:
            await self.run()

    async def load_report(self) -> Report:
        """Return the newest run, and the times that no list has shown."""
        async with self._database.reading() as tx:
            repository = ReconciliationRepository(tx)
            run, spans = await repository.newest(), await repository.find_spans()
            unseen = [UnseenSpan(span, await repository.count_created(span)) for span in find_unseen(spans)]
            raised = {(alarm.kind, alarm.subject) for alarm in await AlarmRepository(tx).find_open()}
            wanted = [each for each in run.differences if each.is_about_money] if run else []
            handled = await _find_handled(tx, wanted)
        not_alarmed = sum(
            (ALARM_OF[each.kind], each.reference) not in raised and not _is_handled(each, handled) for each in wanted
        )
        return Report(
            run=run,
            unseen=tuple(reversed(unseen)),
            known_since=spans[0].since if spans else None,
            not_alarmed=not_alarmed,
        )

    async def export_books(self, period: Span, by: int) -> CsvFile:
        """Return the books of a period, read at one moment. Record who exported them."""
        books, count = Books(), 0
        async with self._database.reading() as tx:
            repository = ReconciliationRepository(tx)
            found = await repository.paid(period.since, period.until, None, BATCH_SIZE)
            while found and count <= MAX_ORDERS:
                count += len(found)
                books.add(found)
                found = await repository.paid(period.since, period.until, found[-1], BATCH_SIZE)
        if not 0 < count <= MAX_ORDERS:
            return CsvFile(count, None)
        async with self._database.transaction() as tx:
            detail = describe_span(period)
            await record_audit(tx, by, AuditAction.EXPORTED, BOOKS_SUBJECT, self._clock.now(), detail=detail)
        return CsvFile(count, books.to_csv())

    async def _read_list(self) -> OrderListing:
        await self._budget.take()
        return await _within_time(read_list(self._settlement, self._clock))

    async def _keep(self, listing: OrderListing, before: Run | None) -> Run:
        """Return a run that knows nothing new: an empty list proves nothing."""
        return Run(
            asked_at=listing.asked_at,
            listed=0,
            next_at=listing.asked_at + self._interval(listing),
            differences=before.differences if before else (),
            pending=before.pending if before else (),
        )

    async def _compare(self, listing: OrderListing, before: Run | None) -> Run:
        reading = _reading_of(listing)
        listed = {report.service_id: report for report in listing.reports}
        shown = find_shown_span(listing.reports, listing.served_at, listing.asked_at, listing.answered_at)
        absent, uncertain = tuple[Order, ...](), 0
        async with self._database.reading() as tx:
            repository = ReconciliationRepository(tx)
            ours = await OrderRepository(tx).polled_by_service_id(listed.keys())
            deposits = await repository.deposits(MAX_DEPOSITS)
            if shown is not None:
                absent = await repository.absent(span_of_absent(shown), listed.keys(), MAX_ABSENT)
                uncertain = await repository.count_uncertain(shown)
        known_pending = self._find_pending(before, listing.asked_at)
        suspected, findings = _Findings(), _Findings()
        for service_id, order in ours.items():
            verdict = compare_order(order, listed[service_id], reading, known_pending)
            suspected.add(verdict.differences)
            if verdict.pending is not None:
                findings.pending[order.reference] = verdict.pending
        suspected.add(missing(order, reading) for order in absent)
        everything = {**ours, **{order.service_id or "": order for order in deposits}}
        suspected.add(find_shared_deposits(listing.reports, everything, reading))
        earlier = {each.key: each for each in before.differences} if before else {}
        in_list = {order.reference for order in ours.values()}
        still = await self._select_current(earlier.values(), listing.asked_at)
        suspected.add(each for each in still if each.reference not in in_list or each.other)
        await self._read_again(suspected, findings, reading, known_pending, earlier)
        return Run(
            asked_at=listing.asked_at,
            listed=len(listed),
            ours=len(ours),
            others=len(listed) - len(ours),
            uncertain=uncertain,
            unlisted=findings.unlisted,
            unchecked=findings.unchecked,
            shown=shown if len(listed) >= LONGEST_LIST else None,
            next_at=listing.asked_at + self._interval(listing),
            differences=tuple(
                replace(each, found_at=earlier[key].found_at) if key in earlier else each
                for key, each in findings.differences.items()
            ),
            pending=tuple(findings.pending.values()),
        )

    def _find_pending(self, before: Run | None, now: datetime) -> Mapping[str, Pending]:
        """Return what the run before has seen. After a pause of the bot, the poller first has to read everything."""
        if before is None or now > before.next_at + MAX_LATE:
            return {}
        return {each.reference: each for each in before.pending}

    async def _select_current(self, earlier: Iterable[Difference], now: datetime) -> list[Difference]:
        """Return earlier differences without old ones that don't concern money, or that an operator has handled."""
        found = list(earlier)
        async with self._database.reading() as tx:
            handled = await _find_handled(tx, found)
        return [
            each
            for each in found
            if now - each.found_at < KEEP_FOR or (each.is_about_money and not _is_handled(each, handled))
        ]

    async def _read_again(
        self,
        suspected: _Findings,
        findings: _Findings,
        listed: Reading,
        pending: Mapping[str, Pending],
        earlier: Mapping[tuple[DifferenceKind, str], Difference],
    ) -> None:
        """Read the suspected orders again, those about money first, and add what remains to `findings`.

        What was found before and hasn't changed is read only every ten minutes.
        """
        by_order: dict[str, list[Difference]] = {}
        for each in sorted(suspected.differences.values(), key=lambda each: not each.is_about_money):
            known = earlier.get(each.key)
            if known is not None and known.theirs == each.theirs and listed.asked_at - known.checked_at < CHECK_EVERY:
                findings.add([known])
            else:
                by_order.setdefault(each.reference, []).append(each)
        can_ask = True
        for place, (reference, differences) in enumerate(by_order.items()):
            confirmed: bool | None = None
            if can_ask and place < MAX_READ_AGAIN:
                try:
                    confirmed = await self._check(reference, differences, findings, listed.offset, pending)
                except (KeyRefused, SlowDown):
                    can_ask = False
                except SettlementFailure as failure:
                    log.info("reconciliation_check_failed", order=reference, error=type(failure).__name__)
            if confirmed is None:
                # What was found before is still true, as far as we know.
                findings.add(each for each in (earlier.get(each.key) for each in differences) if each is not None)
                findings.unchecked += 1

    async def _check(
        self,
        reference: str,
        suspected: Sequence[Difference],
        findings: _Findings,
        offset: timedelta,
        pending: Mapping[str, Pending],
    ) -> bool:
        """Read one order again, compare it with its row as it is then, and add its differences to `findings`.

        A payment that the poller doesn't see any longer is saved first, and its user notified.
        """
        asked_at = self._clock.now()
        report = await self._look_up(suspected[0].service_id)
        if report is not None and any(each.kind is DifferenceKind.UNFOLLOWED for each in suspected):
            await self._tracker.apply_report(reference, report, asked_at=asked_at)
        rivals = {each.other: await self._look_up(each.other) for each in suspected if each.other}
        reading = Reading(asked_at, self._clock.now(), offset)
        async with self._database.reading() as tx:
            order = (await ReconciliationRepository(tx).by_reference([reference])).get(reference)
        if order is None:
            return True
        if report is None:
            findings.add([missing(order, reading)])
            return True
        findings.unlisted += any(each.kind is DifferenceKind.MISSING for each in suspected)
        verdict = compare_order(order, report, reading, pending)
        findings.add(verdict.differences)
        if verdict.pending is not None:
            findings.pending[reference] = verdict.pending
        for other, rival in rivals.items():
            now = reading.answered_at + offset
            if rival is not None and awaits_deposit(order) and are_both_unpaid([report, rival], now):
                findings.add([shared_deposit(order, report, other, reading)])
        return True

    async def _look_up(self, service_id: str) -> OrderReport | None:
        """Return the service's record of an order, or None if it doesn't have it."""
        await self._budget.take()
        try:
            return await _within_time(self._settlement.look_up(service_id))
        except OrderNotFound:
            return None

    def _interval(self, listing: OrderListing) -> timedelta:
        least = timedelta(seconds=BUDGET_SHARE / self._budget.per_second)
        return compute_interval(listing.reports, listing.served_at, least)

    async def _save(self, run: Run) -> Run:
        """Save a run with its alarms. Return the newest run: another process may have read a newer list meanwhile."""
        now = self._clock.now()
        async with self._database.transaction() as tx:
            repository = ReconciliationRepository(tx)
            await repository.lock()
            await repository.delete_runs(before=now - KEEP_FOR, after=now + CLOCK_SLACK)
            newest = await repository.newest()
            if newest is not None and newest.asked_at >= run.asked_at:
                return newest
            await repository.add(run)
            if run.shown is not None:
                before = await repository.find_spans()
                await repository.replace_spans(before, merge_spans(before, run.shown), now - KEEP_FOR)
            await self._change_alarms(tx, run, now)
        return run

    async def _change_alarms(self, tx: Transaction, run: Run, now: datetime) -> None:
        """Raise the alarms about new differences that concern money, and end those that are over."""
        wanted = {(ALARM_OF[each.kind], each.reference): each for each in run.differences if each.is_about_money}
        raised = [alarm for alarm in await AlarmRepository(tx).find_open() if alarm.kind in ALARM_KINDS]
        for alarm in raised:
            if (alarm.kind, alarm.subject) not in wanted:
                await clear_alarm(tx, alarm.kind, alarm.subject, now, self._operators)
        handled = await _find_handled(tx, wanted.values())
        counts = {
            kind: sum(alarm.kind is kind and (kind, alarm.subject) in wanted for alarm in raised)
            for kind in ALARM_KINDS
        }
        known = {(alarm.kind, alarm.subject) for alarm in raised}
        for (kind, reference), difference in wanted.items():
            if (kind, reference) in known or _is_handled(difference, handled) or counts[kind] >= MAX_ALARMS:
                continue
            alarm = Alarm(kind=kind, subject=reference, facts=_alarm_facts(difference), raised_at=now)
            counts[kind] += 1
            await raise_alarm(tx, alarm, self._operators)


def _reading_of(listing: OrderListing) -> Reading:
    offset = timedelta(0) if listing.served_at is None else listing.served_at - listing.answered_at
    return Reading(listing.asked_at, listing.answered_at, offset)


def _alarm_facts(difference: Difference) -> dict[str, object]:
    """Return the facts of an alarm. An unknown amount is left out of a difference, so the other side has one."""
    ours, theirs = difference.ours, difference.theirs or difference.ours
    return {
        "ours": ours.state or "–",  # noqa: RUF001  meant as a dash
        "theirs": theirs.state,
        "other": difference.other,
        "ours_idr": ours.idr if ours.idr is not None else theirs.idr or 0,
        "ours_sats": ours.sats if ours.sats is not None else theirs.sats or 0,
        "theirs_idr": theirs.idr if theirs.idr is not None else ours.idr or 0,
        "theirs_sats": theirs.sats if theirs.sats is not None else ours.sats or 0,
    }


Handled = Mapping[tuple[AlarmKind, str], Sequence[Alarm]]


async def _find_handled(tx: Transaction, differences: Iterable[Difference]) -> Handled:
    """Return the alarms about these differences that operators have marked as handled."""
    handled: dict[tuple[AlarmKind, str], list[Alarm]] = {}
    since: dict[AlarmKind, datetime] = {}
    for each in differences:
        kind = ALARM_OF[each.kind]
        since[kind] = min(since.get(kind, each.found_at), each.found_at)
    for kind, found_at in since.items():
        for alarm in await AlarmRepository(tx).resolved_by_hand(kind, found_at):
            handled.setdefault((kind, alarm.subject), []).append(alarm)
    return handled


def _is_handled(difference: Difference, handled: Handled) -> bool:
    """Return whether an operator has handled it, as it is now. Another amount or state is reported again."""
    facts = _alarm_facts(difference)
    alarms = handled.get((ALARM_OF[difference.kind], difference.reference), ())
    if difference.kind in {DifferenceKind.AMOUNT, DifferenceKind.STATE}:
        return any(facts.items() <= alarm.facts.items() for alarm in alarms)
    return bool(alarms)


async def _within_time(request: Awaitable[T]) -> T:
    """Return the answer. Raises `NoAnswer` if it takes too long."""
    try:
        async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
            return await request
    except TimeoutError:
        raise NoAnswer from None


FIRST_AFTER: Final = timedelta(minutes=1)
"""How long after the beginning of its lead a process waits: the poller first reads what has happened meanwhile."""

LONGEST_WAIT: Final = timedelta(minutes=1)
"""An operator can have reconciled meanwhile, so the time of the next run is read again after this."""

AFTER_FAILURES: Final = Backoff(first=30.0, longest=600.0)


class ReconciliationWorker:
    """Run reconciliations when they are due."""

    def __init__(self, service: ReconciliationService, clock: Clock) -> None:
        self._service = service
        self._clock = clock
        self._not_before = clock.now() + FIRST_AFTER
        self._failures = 0

    async def begin_to_lead(self) -> None:
        """Wait for the poller, and forget the failures of an earlier lead."""
        self._not_before, self._failures = self._clock.now() + FIRST_AFTER, 0

    async def tick(self) -> float:
        """Run one if it is due. Return the seconds until the next call."""
        due = max(await self._service.find_due(), self._not_before)
        wait = min(due - self._clock.now(), LONGEST_WAIT)
        if wait > timedelta(0):
            return wait.total_seconds()
        try:
            run = await self._service.run()
        except SettlementFailure as failure:
            self._failures += 1
            pause = AFTER_FAILURES.after(self._failures)
            if isinstance(failure, SlowDown) and failure.retry_after:
                pause = max(pause, failure.retry_after)
            self._not_before = self._clock.now() + timedelta(seconds=pause)
            log.info("reconciliation_failed", error=type(failure).__name__, retry_in=pause)
            return min(pause, LONGEST_WAIT.total_seconds())
        self._failures = 0
        return max(min(run.next_at - self._clock.now(), LONGEST_WAIT).total_seconds(), 0.0)

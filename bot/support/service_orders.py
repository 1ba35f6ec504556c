"""Orders of our API key that aren't in our rows: what the settlement service reports about them.

AI agents and other programs use the same key, so most of them aren't the bot's. A few are: those whose answer was lost.
Nothing of them is saved. Each look-up is in the audit log before the service is asked.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.core.clock import Clock
from bot.core.text import plain
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.telegram.ui.reader import clip
from bot.orders.evidence import Evidence, add_evidence
from bot.orders.order import Order
from bot.orders.placement.matching import compare_recipients, is_same_request
from bot.orders.repository import OrderRepository
from bot.recipients.numbers import is_masked
from bot.settlement.budget import Budget
from bot.settlement.client import SettlementClient
from bot.settlement.model import OrderReport, PayoutMethod
from bot.staff.audit import record_audit
from bot.staff.model import AuditAction
from bot.support.lookup_repository import LookupRepository

SERVICE_ID: Final = re.compile(r"(?=[^A-Za-z]*[A-Za-z])[0-9A-Za-z_-]{20,48}|mem_[0-9A-Za-z_-]{4,44}")
"""What can be an id of the service. Ids are opaque, but these characters and lengths need no quoting in a path, fit a
button, and are no account number, phone number or name: what is asked for is in the service's log and in ours."""

MARK: Final = "@"
"""Before the service's id where our reference could stand. No reference has it."""

CLOCKS_DIFFER_BY: Final = timedelta(minutes=10)
"""How far the service's time of an order can be from our time of its intent, with their clocks and a slow request."""

LONGEST_NAME, LONGEST_NUMBER = 120, 64
"""Characters. The service sets no limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOrder:
    """An order of our key that our rows don't know under the service's id.

    Attributes:
        service_id: the service's id.
        report: the service's record. None until the service is asked.
        read_at: when the record was read, by our clock.
        lost: our orders that it can be. The answer to their creation was lost.
    """

    service_id: str
    report: OrderReport | None = None
    read_at: datetime | None = None
    lost: tuple[Order, ...] = ()

    @property
    def reference(self) -> str:
        """What stands for a reference in buttons and rows."""
        return f"{MARK}{self.service_id}"

    @property
    def method(self) -> PayoutMethod:
        """The destination. The record doesn't have its kind."""
        code, name = (self.report.bank_code, self.report.bank_name) if self.report else (None, None)
        return PayoutMethod(clip(plain(code or ""), LONGEST_NAME), clip(plain(name or ""), LONGEST_NAME), kind="")

    @property
    def number(self) -> str:
        """The recipient as the service reports it, which may be masked. It is empty if there is none."""
        return clip(plain(self.report.recipient or ""), LONGEST_NUMBER) if self.report else ""

    @property
    def holder(self) -> str | None:
        """The name of the account's holder."""
        return clip(plain(self.report.holder or ""), LONGEST_NAME) or None if self.report else None

    @property
    def is_of_deleted_user(self) -> bool:
        """Whether it can be an order of ours without its recipient. Then the service's copy isn't shown either."""
        return any(not order.has_recipient for order in self.lost)

    @property
    def is_masked(self) -> bool:
        """Whether the service itself reports only a part of the recipient (settlement API, 2.7)."""
        return is_masked(self.number)

    @property
    def has_recipient(self) -> bool:
        """Whether its full recipient can be shown. Before the service is asked, it can."""
        return self.report is None or (bool(self.number) and not self.is_masked and not self.is_of_deleted_user)

    @property
    def user_id(self) -> int:
        """The user whose order it can be, if only one of ours can be it. 0 otherwise."""
        return self.lost[0].user_id if len(self.lost) == 1 else 0

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the record has besides its state."""
        if self.report is None or self.read_at is None:
            return ()
        return add_evidence((), self.report, self.read_at)


Subject = Order | ServiceOrder
"""What support can look at: an order of ours, or one that only the service knows."""


def is_service_id(text: str) -> bool:
    """Return whether `text` looks like an id of the service."""
    return bool(SERVICE_ID.fullmatch(text))


async def find_subject(tx: Transaction, reference: str) -> Subject | None:
    """Return the order of a reference, or of a service's id after `MARK`. The service isn't asked."""
    if not reference.startswith(MARK):
        return await OrderRepository(tx).get(reference)
    service_id = reference.removeprefix(MARK)
    if not is_service_id(service_id):
        return None
    ours = await LookupRepository(tx).find_reference(service_id)
    return ServiceOrder(service_id=service_id) if ours is None else await OrderRepository(tx).get(ours)


class ServiceOrders:
    """Ask the service about orders by their ids. `budget` limits the requests of this process."""

    def __init__(self, database: Database, settlement: SettlementClient, clock: Clock, budget: Budget) -> None:
        self._database = database
        self._settlement = settlement
        self._clock = clock
        self._budget = budget

    async def find_reference(self, service_id: str) -> str | None:
        """Return our reference of the order with this id, even if its row can't be read."""
        async with self._database.reading() as tx:
            return await LookupRepository(tx).find_reference(service_id)

    async def view(self, staff_id: int, service_id: str, subject: str = "service_order") -> ServiceOrder | None:
        """Return the service's order, or None if it is ours. The audit log has the look-up, also if it fails.

        Raises:
            SettlementFailure: the service doesn't have it, or can't be asked now.
        """
        async with self._database.transaction() as tx:
            if await LookupRepository(tx).find_reference(service_id) is not None:
                return None
            await record_audit(tx, staff_id, AuditAction.LOOKED, f"{subject}:{service_id}", self._clock.now())
        return await self.read(service_id)

    async def read(self, service_id: str) -> ServiceOrder | None:
        """Return the service's order, or None if it is ours. Raises as `view`."""
        await self._budget.take()
        report = await self._settlement.look_up(service_id)
        async with self._database.reading() as tx:
            if await LookupRepository(tx).find_reference(service_id) is not None:
                return None
            lost = await _find_lost(tx, report)
        return ServiceOrder(service_id=service_id, report=report, read_at=self._clock.now(), lost=lost)


async def _find_lost(tx: Transaction, report: OrderReport) -> tuple[Order, ...]:
    """Return our orders without an id that the service may have created as this one."""
    if report.created_at is None or report.bank_code is None:
        return ()
    since, until = report.created_at - CLOCKS_DIFFER_BY, report.created_at + CLOCKS_DIFFER_BY
    found = await LookupRepository(tx).find_unclaimed(report.bank_code, since, until)
    return tuple(order for order in found if _may_be(order, report))


def _may_be(order: Order, report: OrderReport) -> bool:
    """Return whether the service's order may be this one. Without its recipient, only the rest can be compared."""
    is_same_recipient = not order.has_recipient or compare_recipients(order, report) != "different"
    return is_same_recipient and is_same_request(order, report)

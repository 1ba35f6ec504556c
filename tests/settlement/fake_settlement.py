"""A settlement service for tests of the use cases: it keeps orders, issues real invoices, and fails on request.

It replaces the calls of `SettlementClient`, so it knows no HTTP. `test_client_against_sandbox.py` tests the real ones.
"""

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.core.money import rupiah_for_sats, sats_for_rupiah
from bot.payments.tokens import TOKENS
from bot.settlement.client import SettlementClient
from bot.settlement.errors import NeverReached, NotCreated, OrderNotFound, OutcomeUnknown, SettlementFailure
from bot.settlement.health import Health
from bot.settlement.model import (
    CreatedOrder,
    DepositRails,
    MaySend,
    NewestOrders,
    OrderReport,
    OrderRequest,
    PayoutMethod,
    PlatformStats,
    Quote,
    Rail,
)
from tests.payments import bolt11_write
from tests.settlement.builders import BCA, BRI, GOPAY, a_deposit, at_any_time

BEGINNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
RATE = Decimal(1_700_000_000)
NODE_KEY = bytes(range(1, 33))


class MovedClock:
    """The bot's clock, which only the test moves."""

    def __init__(self) -> None:
        self.at = BEGINNING

    def now(self) -> datetime:
        return self.at

    def passes(self, **units: float) -> None:
        self.at += timedelta(**units)


@dataclass
class FakeSettlement(SettlementClient):
    """`places` scripts the next POSTs: "answer" (also when empty), "lost_before", "lost_after", or an exception.

    `asked` is set when a POST arrives. `gate` holds back the answers.
    `skew` is how far the service's clock is ahead of ours; `masks` writes a recipient as its records show it.
    """

    clock: MovedClock
    rate: Decimal = RATE
    locked_rate: Decimal | None = None
    methods: tuple[PayoutMethod, ...] = (BCA, BRI, GOPAY)
    rails: frozenset[str] = frozenset(TOKENS)
    network: str = "bcrt"
    expiry: timedelta = timedelta(hours=1)
    skew: timedelta = timedelta(0)
    masks: Callable[[str], str] = str
    places: deque[str | Exception] = field(default_factory=deque)
    answers: deque[dict[str, Any]] = field(default_factory=deque)
    reads: deque[Exception] = field(default_factory=deque)
    gate: asyncio.Event | None = None
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    listed: bool = True
    records: dict[str, OrderReport] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)

    def now(self) -> datetime:
        return self.clock.now() + self.skew

    async def quote(self) -> Quote:
        self._read("quote")
        return Quote(self.rate, self.clock.now())

    async def payout_methods(self) -> tuple[PayoutMethod, ...]:
        self._read("methods")
        return self.methods

    async def deposit_rails(self) -> DepositRails:
        self._read("rails")
        names = [TOKENS[code].rail if code in TOKENS else code for code in sorted(self.rails)]
        return DepositRails(is_configured=bool(names), rails=tuple(Rail(name=name) for name in names))

    async def platform_stats(self) -> PlatformStats:
        self._read("stats")
        return PlatformStats({"totalOrders": len(self.records), "updatedAt": self.now().isoformat()})

    async def place(self, request: OrderRequest, may_send: MaySend = at_any_time) -> CreatedOrder:
        if not may_send():
            raise NotCreated
        self.calls.append(("place", request.number))
        self.asked.set()
        doing = self.places.popleft() if self.places else "answer"
        if isinstance(doing, Exception):
            raise doing
        if doing == "lost_before":
            raise OutcomeUnknown
        if doing == "never_reached":
            raise NeverReached
        created = self.make(request)
        if self.gate is not None:
            await self.gate.wait()
        if doing == "lost_after":
            raise OutcomeUnknown
        return replace(created, **(self.answers.popleft() if self.answers else {}))

    async def look_up(self, service_id: str, *, retry: bool = False) -> OrderReport:  # noqa: ARG002
        self._read("look_up", service_id)
        if service_id not in self.records:
            raise OrderNotFound
        return self.records[service_id]

    async def newest(self, limit: int = 100, *, retry: bool = False) -> NewestOrders:  # noqa: ARG002
        self._read("newest")
        reports = tuple(reversed(self.records.values()))[:limit] if self.listed else ()
        return NewestOrders(reports, self.now())

    def make(self, request: OrderRequest) -> CreatedOrder:
        """Create an order, as the service does after it received the request."""
        rate = self.locked_rate or self.rate
        given = request.amount.value
        sats = given if request.amount.currency == "SAT" else int(sats_for_rupiah(given, rate))
        idr = given if request.amount.currency == "IDR" else int(rupiah_for_sats(given, rate))
        service_id = f"svc-{len(self.records) + 1}"
        deposit = a_deposit(request.channel) if request.channel in TOKENS else None
        invoice = None if deposit else self.invoice(sats)
        self.records[service_id] = OrderReport(
            service_id=service_id,
            state="ROUTE_SHOWN",
            sats=sats,
            idr=idr,
            btc_idr=rate,
            bolt11=invoice,
            channel=request.channel,
            bank_code=request.method.code,
            bank_name=request.method.name,
            recipient=self.masks(request.number),
            created_at=self.now(),
            deposit=deposit,
        )
        return CreatedOrder(
            service_id=service_id, sats=sats, idr=idr, btc_idr=rate, bolt11=invoice, deposit=deposit, expires_at=None
        )

    def invoice(self, sats: int, *, network: str | None = None, timestamp: datetime | None = None) -> str:
        """Return a real, signed invoice. Each has another hash."""
        name = hashlib.sha256(f"{len(self.records)} {sats}".encode()).digest()
        return bolt11_write.encode(
            private_key=NODE_KEY,
            amount_msat=sats * 1000,
            currency=network or self.network,
            timestamp=timestamp or self.clock.now(),
            description="an order",
            payment_hash=name,
            payment_secret=name,
            expiry=self.expiry,
        )

    def becomes(self, service_id: str, state: str, **more: Any) -> None:
        """Move an order of the service. Payment and end get their times."""
        known = self.records[service_id]
        paid_at = known.paid_at or (self.now() if state not in {"IDLE", "ROUTE_SHOWN", "FAILED"} else None)
        completed_at = self.now() if state == "COMPLETED" else None
        self.records[service_id] = replace(
            known, **{"state": state, "paid_at": paid_at, "completed_at": completed_at, **more}
        )

    def times(self, call: str) -> int:
        return sum(1 for name, _ in self.calls if name == call)

    def _read(self, call: str, about: str = "") -> None:
        self.calls.append((call, about))
        if self.reads:
            raise self.reads.popleft()


class RecordedSettlement:
    """A service as one process calls it. The process's health is told each result, as the client does it."""

    def __init__(self, settlement: SettlementClient, health: Health) -> None:
        self._settlement = settlement
        self._health = health

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._settlement, name)

        async def call(*args: Any, **options: Any) -> Any:
            try:
                result = await method(*args, **options)
            except SettlementFailure as failure:
                self._health.record("order", failure, 0)
                raise
            self._health.record("order", result, 0)
            return result

        return call


def failing(failure: type[SettlementFailure], times: int = 1) -> list[Exception]:
    return [failure() for _ in range(times)]

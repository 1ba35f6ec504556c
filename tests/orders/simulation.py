"""The world around an order: the service that bots share, Telegram's chats, and processes.

The bots are the real parts (`order_system.OrderSystem`) with the real outbox. The service and Telegram are models.
`KillableProcess` says what goes wrong at each call.
"""

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from unittest.mock import patch

from bot.checkout import notifications as draft_notifications
from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.leases.chat_leases import ChatLease, UnsharedLeases
from bot.infra.outbox.delivery import OutboxDelivery
from bot.infra.outbox.model import Notification, StoredNotification
from bot.infra.outbox.rendering import Renderers, delivery_outcome
from bot.infra.telegram.outbound.sender import Delivered, Gone, Invalid, Outcome, TryLater
from bot.orders import messages as order_messages
from bot.orders import order as order_module
from bot.orders.alarms import load_order
from bot.orders.missed_messages import follow_ups
from bot.orders.placement import service as ordering
from bot.orders.receipts.service import ReceiptService
from bot.payments import bolt11, qr
from bot.settlement.client import SettlementClient
from bot.settlement.errors import (
    NoAnswer,
    NotCreated,
    OrderNotFound,
    OutcomeUnknown,
    Refused,
    SlowDown,
)
from bot.settlement.model import CreatedOrder, MaySend, NewestOrders, OrderReport, OrderRequest, Quote
from bot.staff.model import AlarmSubjects
from bot.staff.notifications import AlarmMessages
from bot.staff.staff_chat import SupportContacts
from bot.support.notifications import AboutTicket, TicketNotification
from bot.users.readers import RenderContext, RenderContexts
from bot.users.workers import DeletionMessage
from tests.infra.builders import an_infra
from tests.orders.builders import no_ticket
from tests.orders.faults import Fault, KillableProcess, KillableStore
from tests.orders.order_system import OrderSystem
from tests.settlement.builders import at_any_time
from tests.settlement.fake_settlement import FakeSettlement
from tests.texts import TRANSLATIONS

T = TypeVar("T")
INVOICE = re.compile(r"ln(?:bcrt|tb|bc)[0-9]+[munp]?1[02-9ac-hj-np-z]{50,}")
TRANSFER = re.compile(r"ethereum:0x[0-9A-Fa-f]{40}@[0-9]+/transfer\?address=0x[0-9A-Fa-f]{40}&uint256=[0-9]+")
UNDELETABLE_AFTER = timedelta(hours=48)
ANOMALIES = (
    "amount",
    "network",
    "hash",
    "spelling",
    "expired",
    "memory",
    "worse",
    "slightly worse",
    "better",
    "slightly better",
    "contract",
)
PATHS = {
    "lightning": ("ROUTE_SHOWN", "LN_INVOICE_PAID", "LN_SWAP_PENDING", "USDT_RECEIVED", "IDR_SETTLED", "COMPLETED"),
    "cbbtc": ("ROUTE_SHOWN", "USDT_RECEIVED", "P2PM_ORDER_PLACED", "IDR_SETTLED", "COMPLETED"),
}
NOTIFICATION: ContextVar[StoredNotification | None] = ContextVar("notification", default=None)
"""The notification that is being sent."""

POSTING: ContextVar[str] = ContextVar("posting", default="")


@dataclass
class ActualOrder:
    """What only the service knows of an order: who requested it, and when it was really paid."""

    request: OrderRequest
    requested_by: str
    created_at: datetime
    is_unlisted: bool = False
    paid_at: datetime | None = None


@dataclass
class ServiceModel(FakeSettlement):
    """The service of all programs with one key. `anomaly` is what goes wrong with the next order that it creates."""

    actual_orders: dict[str, ActualOrder] = field(default_factory=dict)
    posts: list[str] = field(default_factory=list)
    anomaly: str | None = None

    def create(self, request: OrderRequest, requested_by: str) -> CreatedOrder:
        anomaly, self.anomaly = self.anomaly, None
        factor = {"worse": "0.9", "slightly worse": "0.995", "better": "1.2", "slightly better": "1.005"}.get(
            anomaly or "", "1"
        )
        self.locked_rate = self.rate * Decimal(factor)
        other = replace(request, amount=replace(request.amount, value=request.amount.value * 2))
        created = self.make(other if anomaly == "amount" else request)
        self.locked_rate = None
        self.actual_orders[created.service_id] = ActualOrder(
            request, requested_by, self.clock.now(), is_unlisted=anomaly == "memory"
        )
        changes = self._anomalous_fields(anomaly, created)
        record = {name: changes[name] for name in ("bolt11", "deposit") if name in changes}
        self.records[created.service_id] = replace(self.records[created.service_id], **record)
        return replace(created, **changes)

    def _anomalous_fields(self, anomaly: str | None, created: CreatedOrder) -> dict[str, Any]:
        if created.deposit is not None:
            wrong = replace(created.deposit, token_address="0x" + "12" * 20)
            return {"deposit": wrong} if anomaly == "contract" else {}
        invoice = str(created.bolt11)
        match anomaly:
            case "network":
                return {"bolt11": self.invoice(created.sats, network="bc")}
            case "hash":
                others = (r for r in reversed(self.records.values()) if r.service_id != created.service_id)
                return {"bolt11": next((r.bolt11 for r in others if r.sats == created.sats and r.bolt11), invoice)}
            case "spelling":
                return {"bolt11": f" lightning:{invoice.upper()}\n"}
            case "expired":
                return {"bolt11": self.invoice(created.sats, timestamp=self.clock.now() - 2 * self.expiry)}
        return {}

    def listing(self, limit: int = 100) -> NewestOrders:
        known = [report for report in self.records.values() if not self.actual_orders[report.service_id].is_unlisted]
        return NewestOrders(tuple(reversed(known))[:limit] if self.listed else (), self.now())

    def report(self, service_id: str) -> OrderReport:
        if service_id not in self.records:
            raise OrderNotFound
        return self.records[service_id]

    def is_payable(self, service_id: str) -> bool:
        record = self.records[service_id]
        if record.state != "ROUTE_SHOWN":
            return False
        return record.bolt11 is None or self.clock.now() < bolt11.decode(record.bolt11).expires_at

    def could_settle(self, channel: str, sats: int | None) -> list[str]:
        """Return the ids of the open orders that a deposit of this sum could pay, the oldest first.

        This is the service's view: it knows nothing of what anybody was shown, and all orders have one address.
        """
        return [
            each.service_id
            for each in self.records.values()
            if each.deposit is not None and (each.channel, each.sats, each.state) == (channel, sats, "ROUTE_SHOWN")
        ]

    def is_as_requested(self, service_id: str) -> bool:
        """Return whether the order has the amount that was asked for."""
        record, wanted = self.records[service_id], self.actual_orders[service_id].request.amount
        return wanted.value == (record.sats if wanted.currency == "SAT" else record.idr)

    def receive_payment(self, service_id: str) -> None:
        """Receive the payment of an order."""
        self.actual_orders[service_id].paid_at = self.clock.now()
        self.advance(service_id, 1)

    def advance(self, service_id: str, steps: int) -> None:
        """Move a paid order on by some states. Zero moves nothing."""
        record = self.records[service_id]
        path = PATHS["lightning" if record.deposit is None else "cbbtc"]
        if record.state in path[:-1] and self.actual_orders[service_id].paid_at is not None:
            state = path[min(path.index(record.state) + steps, len(path) - 1)]
            paid = {} if record.deposit is None else {"paid_at": None}
            self.becomes(service_id, state, **paid)

    def fail_order(self, service_id: str) -> None:
        """Let an order fail. The record keeps the time of a Lightning payment, but not of a deposit."""
        record, actual = self.records[service_id], self.actual_orders[service_id]
        if record.state not in {"COMPLETED", "FAILED"}:
            paid_at = actual.paid_at if record.deposit is None else None
            self.records[service_id] = replace(record, state="FAILED", paid_at=paid_at)


class FaultySettlement(SettlementClient):
    """The service as one process calls it, with faults."""

    def __init__(self, process: KillableProcess, service: ServiceModel) -> None:
        self._process, self._service = process, service

    async def quote(self) -> Quote:
        return await self._read("quote", lambda: Quote(self._service.rate, self._service.clock.now()))

    async def payout_methods(self) -> Any:
        return await self._read("methods", lambda: self._service.methods)

    async def deposit_rails(self) -> Any:
        rails = await self._service.deposit_rails()
        return await self._read("rails", lambda: rails)

    async def look_up(self, service_id: str, *, retry: bool = False) -> OrderReport:  # noqa: ARG002
        return await self._read("look", lambda: self._service.report(service_id))

    async def newest(self, limit: int = 100, *, retry: bool = False) -> NewestOrders:  # noqa: ARG002
        def listing() -> NewestOrders:
            return self._service.listing(limit)

        return await self._read("list", listing, odd=lambda: NewestOrders((), self._service.now()))

    async def place(self, request: OrderRequest, may_send: MaySend = at_any_time) -> CreatedOrder:
        fault = await self._process.await_fault("POST")
        if not may_send():
            raise NotCreated
        self._service.posts.append(POSTING.get())
        if fault is Fault.FAIL:
            raise OutcomeUnknown
        if fault is Fault.ODD_ANSWER:
            raise Refused(reason="no")
        created = self._service.create(request, POSTING.get())
        if await self._process.await_fault("POST answered") in {Fault.FAIL, Fault.ODD_ANSWER}:
            raise OutcomeUnknown
        return created

    async def _read(self, what: str, read: Callable[[], T], odd: Callable[[], T] | None = None) -> T:
        fault = await self._process.await_fault(what)
        if fault is Fault.FAIL:
            raise NoAnswer
        if fault is Fault.ODD_ANSWER:
            raise SlowDown(retry_after=3)
        answer = read()
        fault = await self._process.await_fault(f"{what} answered")
        if fault is Fault.FAIL:
            raise NoAnswer
        return odd() if odd and fault is Fault.ODD_ANSWER else answer


@dataclass(eq=False)
class Message:
    """A message in a chat. `sent_html` is its first text. `is_known` says whether the bot received its id."""

    id: int
    chat_id: int
    html: str
    picture: bytes | None
    at: datetime
    notification: StoredNotification
    is_known: bool = False
    is_deleted: bool = False
    versions: int = 1
    sent_html: str = ""

    def __post_init__(self) -> None:
        self.sent_html = self.html

    @property
    def kind(self) -> str:
        return self.notification.kind

    def payment_request(self) -> str | None:
        """Return the invoice or the transfer request in the text or the picture."""
        shown = f"{self.html} {(self.picture or b'').decode()}"
        found = TRANSFER.search(shown) or INVOICE.search(shown.lower())
        return found[0] if found else None


@dataclass
class FakeTelegram:
    """Telegram's chats, in memory."""

    clock: Any
    messages: list[Message] = field(default_factory=list)
    rejects_pictures: bool = False
    is_down: bool = False
    rejected: list[StoredNotification] = field(default_factory=list)
    holders: dict[int, "SharedChats"] = field(default_factory=dict)
    """The process that has each chat."""

    def messages_about(self, subject: str, *kinds: str) -> list[Message]:
        return [each for each in self.messages if each.notification.subject == subject and each.kind in kinds]


class FaultyMessenger:
    """Telegram as one process calls it, with faults: the methods of `Messenger` that senders use."""

    username = "kirim_bot"

    def __init__(self, process: KillableProcess, telegram: FakeTelegram) -> None:
        self._process, self._telegram = process, telegram

    async def send_text(self, chat_id: int, html: str, _: Any = (), **__: Any) -> Outcome:
        return await self._send(chat_id, html, None)

    async def send_photo(self, chat_id: int, photo: bytes, caption: str, _: Any = (), **__: Any) -> Outcome:
        return await self._send(chat_id, caption, photo)

    async def edit_text(self, chat_id: int, message_id: int, html: str, _: Any = (), **__: Any) -> Outcome:
        return await self._edit(chat_id, message_id, html, None)

    async def edit_caption(self, chat_id: int, message_id: int, html: str, _: Any = (), **__: Any) -> Outcome:
        message = self._message(chat_id, message_id)
        if message is None or message.picture is None:
            return Gone()
        return await self._edit(chat_id, message_id, html, message.picture)

    async def edit_photo(
        self, chat_id: int, message_id: int, photo: bytes, html: str, _: Any = (), **__: Any
    ) -> Outcome:
        return await self._edit(chat_id, message_id, html, photo)

    async def delete(self, chat_id: int, message_id: int, **_: Any) -> Outcome:
        fault = await self._process.await_fault("delete")
        if fault is Fault.FAIL:
            return TryLater(1)
        message = self._message(chat_id, message_id)
        if message is None:
            return Gone()
        if fault is Fault.ODD_ANSWER or self._telegram.clock.now() - message.at > UNDELETABLE_AFTER:
            return Gone(is_too_old=True)
        message.is_deleted = True
        fault = await self._process.await_fault("deleted")
        return Delivered() if fault is Fault.NONE else TryLater(3, maybe_sent=True)

    async def _send(self, chat_id: int, html: str, picture: bytes | None) -> Outcome:
        notification = NOTIFICATION.get()
        assert notification is not None
        fault = await self._process.await_fault("send")
        if fault is Fault.FAIL or self._telegram.is_down:
            return TryLater(1)
        if fault is Fault.ODD_ANSWER or (picture is not None and self._telegram.rejects_pictures):
            if picture is None:
                self._telegram.rejected.append(notification)
            return Invalid("rejected")
        number = len(self._telegram.messages) + 1
        message = Message(number, chat_id, html, picture, self._telegram.clock.now(), notification)
        self._telegram.messages.append(message)
        if await self._process.await_fault("sent") is not Fault.NONE:
            return TryLater(3, maybe_sent=True)
        message.is_known = True
        return Delivered(message.id)

    async def _edit(self, chat_id: int, message_id: int, html: str, picture: bytes | None) -> Outcome:
        if await self._process.await_fault("edit") is not Fault.NONE:
            return TryLater(1)
        message = self._message(chat_id, message_id)
        if message is None:
            return Gone()
        message.html, message.picture, message.versions = html, picture, message.versions + 1
        fault = await self._process.await_fault("edited")
        return Delivered(message.id) if fault is Fault.NONE else TryLater(3, maybe_sent=True)

    def _message(self, chat_id: int, message_id: int) -> Message | None:
        found = (each for each in self._telegram.messages if each.id == message_id and each.chat_id == chat_id)
        return next((each for each in found if not each.is_deleted), None)


class TracingRenderer:
    """The real renderers. They set `NOTIFICATION`, so that each message is assigned to its notification."""

    store: Any = None

    def __init__(self, sender: Renderers[RenderContext]) -> None:
        self._sender = sender

    async def send(self, notification: StoredNotification) -> Any:
        NOTIFICATION.set(notification)
        return await self._sender.send(notification)


class SharedChats(UnsharedLeases):
    """Grants each chat to one process at a time, as on PostgreSQL. One that is killed or idle loses its chats."""

    def __init__(self, process: KillableProcess, holders: dict[int, "SharedChats"]) -> None:
        super().__init__()
        self._process, self._holders, self._users = process, holders, Counter[int]()

    def get(self, chat_id: int) -> Any:
        return super().get(chat_id) if self._holders.get(chat_id) is self else None

    async def claim(self, chat_ids: Collection[int]) -> Sequence[ChatLease]:
        for chat_id in chat_ids:
            if not self._holders.get(chat_id, self).is_working(chat_id):
                self._holders[chat_id] = self
        return [lease for chat_id in chat_ids if (lease := self.get(chat_id)) is not None]

    def is_working(self, chat_id: int) -> bool:
        return self._users[chat_id] > 0 and not self._process.is_dead

    @contextlib.contextmanager
    def work_in(self, lease: ChatLease) -> Iterator[None]:
        self._users[lease.chat_id] += 1
        try:
            yield
        finally:
            self._users[lease.chat_id] -= 1

    async def lock(self, _tx: Transaction, leases: Collection[ChatLease]) -> Collection[ChatLease]:
        return [lease for lease in leases if self.get(lease.chat_id) is not None]


class Bot(OrderSystem):
    """One process of the bot, with all parts that orders need."""

    def __init__(
        self,
        process: KillableProcess,
        sql: Database,
        service: ServiceModel,
        telegram: FakeTelegram,
        rules: Any,
    ) -> None:
        self.process = process
        super().__init__(
            "",
            service,
            rules=rules,
            wrap=lambda store: KillableStore(store, self.process),
            settlement=FaultySettlement(self.process, service),
            sql=sql,
        )
        messenger: Any = FaultyMessenger(self.process, telegram)

        async def render_support_file(notification: Notification[AboutTicket], _: RenderContext) -> Any:
            return delivery_outcome(
                await messenger.send_photo(notification.chat_id, b"a file", "from support", priority="talk")
            )

        renderers = Renderers(
            RenderContexts(an_infra(self.store, self.clock, messenger)).open,
            DeletionMessage(TRANSLATIONS).renderers(),
            draft_notifications.RENDERERS,
            order_messages.OrderMessages(
                describe_ticket=no_ticket,
                contacts=SupportContacts(self.staff_chat),
                receipts=ReceiptService(self.store, self.clock),
            ).renderers(),
            AlarmMessages(AlarmSubjects(load_order)).renderers(),
            {TicketNotification.REPLY: render_support_file},
        )
        self.delivery = OutboxDelivery(
            self.store,
            TracingRenderer(renderers),
            self.clock,
            follow_ups=follow_ups(rules.operator_ids),
            leases=SharedChats(process, telegram.holders),
        )
        submit = self.orders.submission.submit

        def submit_and_note(order: Any) -> None:
            token = POSTING.set(order.reference)
            submit(order)
            POSTING.reset(token)

        self.orders.submission.submit = submit_and_note  # type: ignore[method-assign]


@contextlib.contextmanager
def predictable_output() -> Iterator[None]:
    """Replace pictures by their contents, and count references, so that each run gives the same output."""
    count = iter(range(10**6))

    async def payload(text: str) -> bytes:
        return text.encode()

    async def receipt(_: Any) -> bytes:
        return b"a receipt"

    def closed(*, is_paid: bool) -> bytes:
        return b"paid" if is_paid else b"closed"

    def reference() -> str:
        return f"R{next(count):06d}"

    with (
        patch.object(qr, "render_png_off_loop", payload),
        patch.object(order_messages, "render_receipt_off_loop", receipt),
        patch.object(qr, "draw_closed", closed),
        patch.object(order_module, "new_reference", reference),
        patch.object(ordering, "new_reference", reference),
    ):
        yield

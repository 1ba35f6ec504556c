"""The receipt comes right after the message that the rupiah were sent, and no kill makes two codes."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.infra.outbox.model import RetryLater, Sent, StoredNotification, Undeliverable
from bot.orders.notifications.kinds import OrderNotification
from bot.orders.receipts.service import ReceiptService
from bot.orders.repository import OrderRepository
from tests.orders.crashing import Crash, Fuse, FusedEars, FusedStore
from tests.orders.order_world import Heard, OrderSystem
from tests.settlement.fake_settlement import FakeSettlement, MovedClock

STATES = ("LN_INVOICE_PAID", "IDR_SETTLED", "COMPLETED")


@dataclass
class Chat:
    """What reached Emma, over all lives of the bot."""

    heard: list[Heard] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)


class Forwarder(FusedEars):
    """A teller that makes each receipt as the real one does, and writes down which code was shown."""

    def __init__(self, clock: MovedClock, fuse: Fuse, chat: Chat) -> None:
        super().__init__(clock, fuse, chat.heard)
        self._codes = chat.codes

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        receipt = None
        if notification.kind == OrderNotification.RECEIPT and self.store is not None:
            async with self.store.reading() as tx:
                order = await OrderRepository(tx).get(str(notification.payload["reference"]))
            assert order is not None
            receipt = await ReceiptService(self.store, self.clock).of(order)
            assert receipt is not None
        told = await super().send(notification)
        if receipt is not None:
            self._codes.append(receipt.code)
        return told


async def life(file: str, service: FakeSettlement, chat: Chat, fuse: Fuse) -> None:
    """The bot follows an order until it dies or all is told."""
    system = OrderSystem(
        file,
        service,
        wrap=lambda store: FusedStore(store, fuse),
        ears=Forwarder(service.clock, fuse, chat),
    )
    with suppress(Crash):
        await system.delivery.recover()
        for _ in range(4):
            await polls(system)
    for task in system.delivery._under_way.values():
        task.cancel()
    with suppress(Crash):
        await system.leave()


async def polls(system: OrderSystem) -> None:
    system.clock.passes(seconds=30)
    await system.poller.tick()
    while await system.delivery.start_due():
        tasks = list(system.delivery._under_way.values())
        await system.delivery.wait_until_sent()
        if any(isinstance(task.exception(), Crash) for task in tasks):
            raise Crash


async def test_the_receipt_follows_the_message_that_the_rupiah_were_sent(
    system: OrderSystem, service: FakeSettlement
) -> None:
    order = await system.place()
    for state in STATES:
        service.becomes(order.service_id or "", state)
        await system.polls()
    assert system.ears.kinds()[-2:] == [OrderNotification.SENT, OrderNotification.RECEIPT]
    assert system.ears.kinds().count(OrderNotification.RECEIPT) == 1


async def test_a_failed_order_has_no_receipt(system: OrderSystem, service: FakeSettlement) -> None:
    order = await system.place()
    for state in ("LN_INVOICE_PAID", "FAILED"):
        service.becomes(order.service_id or "", state)
        await system.polls()
    assert OrderNotification.RECEIPT not in system.ears.kinds()


async def test_wherever_the_bot_is_killed_one_order_has_one_code(migrated_file: Any, tmp_path: Path) -> None:
    at, told_twice = 0, 0
    while True:
        path = tmp_path / f"{at}.db"
        path.write_bytes(migrated_file.read_bytes())
        file, service, chat, fuse = f"sqlite:///{path}", FakeSettlement(MovedClock()), Chat(), Fuse(at)
        system = OrderSystem(file, service)
        order = await system.place()
        await system.leave()
        service.becomes(order.service_id or "", "COMPLETED")
        await life(file, service, chat, fuse)
        await life(file, service, chat, Fuse(None))
        assert chat.codes, f"killed at moment {at}"
        assert len(set(chat.codes)) == 1, f"killed at moment {at}"
        kinds = [each.kind for each in chat.heard]
        assert kinds.index(OrderNotification.SENT) < kinds.index(OrderNotification.RECEIPT)
        told_twice += len(chat.codes) > 1
        if fuse.left:
            break
        at += 1
    assert at > 10
    assert told_twice >= 1

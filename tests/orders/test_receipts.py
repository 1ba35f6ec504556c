"""The receipt is the message that the rupiah were sent, and an order never gets two codes after a crash."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.infra.outbox.model import RetryLater, Sent, StoredNotification, Undeliverable
from bot.orders.notifications import OrderNotification
from bot.orders.receipts.service import ReceiptService
from bot.orders.repository import OrderRepository
from tests.orders.crashes import Crash, CrashCountdown, CrashingSender, CrashingStore
from tests.orders.order_system import OrderSystem, SentMessage
from tests.settlement.fake_settlement import FakeSettlement, MovedClock


@dataclass
class Chat:
    """The messages and codes that Emma got from all processes of the bot."""

    sent: list[SentMessage] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)


class ReceiptSender(CrashingSender):
    """A sender that creates each receipt as the real one does, and records its code."""

    def __init__(self, clock: MovedClock, countdown: CrashCountdown, chat: Chat) -> None:
        super().__init__(clock, countdown, chat.sent)
        self._codes = chat.codes

    async def send(self, notification: StoredNotification) -> Sent | RetryLater | Undeliverable:
        receipt = None
        if notification.kind == OrderNotification.SENT and self.store is not None:
            async with self.store.reading() as tx:
                order = await OrderRepository(tx).get(str(notification.payload["reference"]))
            assert order is not None
            receipt = await ReceiptService(self.store, self.clock).get_or_create(order)
            assert receipt is not None
        result = await super().send(notification)
        if receipt is not None:
            self._codes.append(receipt.code)
        return result


async def run_process(file: str, service: FakeSettlement, chat: Chat, countdown: CrashCountdown) -> None:
    """Run the bot until it is killed or has sent everything."""
    system = OrderSystem(
        file,
        service,
        wrap=lambda store: CrashingStore(store, countdown),
        sender=ReceiptSender(service.clock, countdown, chat),
    )
    with suppress(Crash):
        for _ in range(4):
            await poll(system)
    for task in system.delivery._list_tasks():
        task.cancel()
    with suppress(Crash):
        await system.close()


async def poll(system: OrderSystem) -> None:
    system.clock.passes(seconds=30)
    await system.poller.tick()
    while await system.delivery.start_due():
        tasks = system.delivery._list_tasks()
        await system.delivery.wait_until_sent()
        if any(isinstance(task.exception(), Crash) for task in tasks):
            raise Crash


async def test_wherever_the_bot_is_killed_one_order_has_one_code(migrated_file: Any, tmp_path: Path) -> None:
    at, told_twice = 0, 0
    while True:
        path = tmp_path / f"{at}.db"
        path.write_bytes(migrated_file.read_bytes())
        file, service, chat, countdown = f"sqlite:///{path}", FakeSettlement(MovedClock()), Chat(), CrashCountdown(at)
        system = OrderSystem(file, service)
        order = await system.place()
        await system.close()
        service.becomes(order.service_id or "", "COMPLETED")
        await run_process(file, service, chat, countdown)
        await run_process(file, service, chat, CrashCountdown(None))
        assert chat.codes, f"killed at moment {at}"
        assert len(set(chat.codes)) == 1, f"killed at moment {at}"
        kinds = [each.kind for each in chat.sent]
        assert kinds.index(OrderNotification.SENT) < kinds.index(OrderNotification.REMOVE_INVOICE)
        told_twice += len(chat.codes) > 1
        if countdown.remaining:
            break
        at += 1
    assert at >= 9, "there are moments at which it can be killed"
    assert told_twice >= 1

"""The bot is killed at every moment of a deletion: notifications about money and the last message are still sent."""

import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.infra.outbox.model import Queue
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.notifications import OrderNotification
from bot.orders.repository import OrderRepository
from bot.users.model import User, UserNotification
from bot.users.privacy import PrivacyService
from bot.users.repository import DeletionRepository, UserRepository
from tests.examples import kill_every
from tests.infra.builders import an_infra
from tests.infra.on_disk import find_texts
from tests.orders.crashes import Crash, CrashCountdown, CrashingSender, CrashingStore
from tests.orders.order_system import EMMA, NUMBER, OrderSystem, SentMessage
from tests.settlement.fake_settlement import FakeSettlement, MovedClock
from tests.users.stored_data import USER_DATA

pytestmark = pytest.mark.usefixtures("sqlite_in_the_loop")


@dataclass
class RequestedDeletion:
    """Emma has paid and asked for deletion. Then her order completes."""

    file: str
    service: FakeSettlement
    sent: list[SentMessage] = field(default_factory=list)

    def system(self, countdown: CrashCountdown) -> OrderSystem:
        return OrderSystem(
            self.file,
            self.service,
            wrap=lambda store: CrashingStore(store, countdown),
            sender=CrashingSender(self.service.clock, countdown, self.sent),
        )

    async def place_and_pay(self) -> None:
        system = OrderSystem(self.file, self.service)
        async with system.store.transaction() as tx:
            await UserRepository(tx).save(User(id=EMMA, created_at=system.clock.now()))
        order = await system.place()
        await system.deliver()
        self.service.becomes(order.service_id or "", "LN_INVOICE_PAID")
        await system.poll()
        async with system.store.reading() as tx:
            emma = await UserRepository(tx).get(EMMA)
        assert emma is not None
        assert not (await PrivacyService(an_infra(system.store, system.clock), USER_DATA, 365).delete(emma)).is_empty
        self.service.becomes(order.service_id or "", "COMPLETED")
        await system.close()

    async def run(self, system: OrderSystem) -> None:
        privacy = PrivacyService(an_infra(system.store, system.clock), USER_DATA, 365)
        for _ in range(6):
            system.clock.passes(seconds=20)
            await system.poller.tick()
            await self.deliver(system)
            for user_id in await privacy.find_deletable():
                await privacy.delete_as_requested(user_id)
            await self.deliver(system)
            await privacy.clean_up()

    async def deliver(self, system: OrderSystem) -> None:
        while await system.delivery.start_due():
            tasks = system.delivery._list_tasks()
            await system.delivery.wait_until_sent()
            if any(isinstance(task.exception(), Crash) for task in tasks):
                raise Crash


async def test_wherever_the_bot_was_killed_nothing_is_lost_and_nobody_is_half_forgotten(
    migrated_file: Path, tmp_path: Path
) -> None:
    at = 0
    while True:
        path = tmp_path / f"{at}.db"
        shutil.copy(migrated_file, path)
        deletion, countdown = RequestedDeletion(f"sqlite:///{path}", FakeSettlement(MovedClock())), CrashCountdown(at)
        await deletion.place_and_pay()
        first = deletion.system(countdown)
        with suppress(Crash):
            await deletion.run(first)
        for task in first.delivery._list_tasks():
            task.cancel()
        with suppress(Crash):
            await first.close()
        second = deletion.system(CrashCountdown(None))
        await deletion.run(second)
        await check_result(deletion, second, f"killed at moment {at}")
        await second.close()
        assert find_texts(path, [NUMBER]) == {}
        if countdown.remaining:
            break
        at += kill_every()
    assert at > 8


async def check_result(deletion: RequestedDeletion, system: OrderSystem, context: str) -> None:
    kinds = [each.kind for each in deletion.sent]
    assert kinds.index(OrderNotification.SENT) < kinds.index(UserNotification.DATA_DELETED), context
    last_messages = [each.maybe_sent for each in deletion.sent if each.kind == UserNotification.DATA_DELETED]
    assert last_messages in ([False], [False, True], [True]), context
    async with system.store.reading() as tx:
        assert await UserRepository(tx).get(EMMA) is None, context
        assert await OrderRepository(tx).of_user(EMMA) == (), context
        assert not await OutboxRepository(tx).find_heads(tuple(Queue)), context
        assert not await DeletionRepository(tx).has_notifications(EMMA), context

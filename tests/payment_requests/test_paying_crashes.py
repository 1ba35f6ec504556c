"""The bot is killed at every moment in which a link is paid: one invoice, one payout, and the asker hears of it."""

import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from bot.infra.db.database import Database
from bot.orders.order import payer_in_chat
from bot.payment_requests.model import RequestState
from bot.payment_requests.paying.notifications import LinkNotification
from bot.payment_requests.paying.service import Confirmation, NotPayable, PayService
from bot.payment_requests.repository import PaymentRequestRepository
from tests.examples import kill_every
from tests.infra.keys import VAULT
from tests.orders.crashes import Crash, CrashCountdown
from tests.orders.order_system import EMMA, SARI, OrderSystem
from tests.orders.test_crashes import PARTS, Payment, close, ends_well
from tests.payment_requests.builders import a_request
from tests.payment_requests.test_paying import LINK_RULES, connect
from tests.settlement.fake_settlement import FakeSettlement, MovedClock

pytestmark = pytest.mark.usefixtures("sqlite_in_the_loop")

REQUEST = a_request()
CONFIRMED = Confirmation(
    payer=payer_in_chat(EMMA), request_id=REQUEST.id, idr=150_000, sats=8_824, review="0123456789ab"
)


@dataclass
class LinkPayment(Payment):
    """Emma confirms the review of Sari's link. Her tap is replayed after a crash."""

    rules = LINK_RULES

    def system(self, countdown: CrashCountdown) -> OrderSystem:
        system = super().system(countdown)
        connect(system)
        return system

    async def confirm(self, system: OrderSystem) -> None:
        if not self.confirmed:
            with suppress(NotPayable):
                await PayService(system.infra, system.orders).place(CONFIRMED)
            self.confirmed = True
        await self.await_requests(system)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("scripted", ["answer", "lost_after"])
async def test_a_paid_link_ends_well_wherever_the_bot_was_killed(
    migrated_file: Any, tmp_path: Any, scripted: str, part: int
) -> None:
    asked = tmp_path / "asked.db"
    shutil.copy(migrated_file, asked)
    preparing = OrderSystem(f"sqlite:///{asked}", FakeSettlement(MovedClock()))
    async with preparing.sql.transaction() as tx:
        await PaymentRequestRepository(tx).add(REQUEST)
    await preparing.close()
    at, path = part, tmp_path / "kirim.db"
    sql = Database(f"sqlite:///{path}", VAULT)
    while True:
        shutil.copy(asked, path)
        service = FakeSettlement(MovedClock())
        service.places.append(scripted)
        countdown = CrashCountdown(at)
        payment = LinkPayment(sql, service, cast("Any", None))
        first, second = payment.system(countdown), payment.system(CrashCountdown(None))
        with suppress(Crash):
            await payment.run(first, rounds=14)
        await close(first)
        await payment.run(second, rounds=25)
        when = f"killed at moment {countdown.steps}"
        # Each of the two chats can have a message that is repeated.
        of_payer = replace(payment, sent=[each for each in payment.sent if each.chat_id != SARI])
        await ends_well(of_payer, second, when)
        await the_asker_has_heard_of_it(payment, sql, when)
        await close(second)
        if countdown.remaining:
            break
        at += PARTS * kill_every()
    assert at > 20


async def the_asker_has_heard_of_it(payment: LinkPayment, sql: Database, when: str) -> None:
    heard = [each for each in payment.sent if each.chat_id == SARI]
    kinds = [each.kind for each in heard]
    assert set(kinds) == {LinkNotification.PAID, LinkNotification.SENT}, when
    assert kinds.index(LinkNotification.PAID) < kinds.index(LinkNotification.SENT), when
    assert max(Counter(each.kind for each in heard if not each.maybe_sent).values()) == 1, when
    async with sql.reading() as tx:
        request = await PaymentRequestRepository(tx).get(REQUEST.id)
    assert request is not None
    assert request.state_at(payment.service.clock.now()) is RequestState.PAID, when

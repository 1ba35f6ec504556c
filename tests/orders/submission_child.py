"""A process that places an order, whose request waits for a connection until the test lets it go.

Arguments: the address of the service, the path of the database, and a file for notes.
"""

import asyncio
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bot.core.clock import SystemClock
from bot.core.money import Amount
from bot.orders.rules import sent_by
from bot.settlement import model
from bot.settlement import transport as transport_module
from bot.settlement.client import SettlementClient
from tests.orders.order_system import RULES, OrderSystem
from tests.settlement.builders import BCA, at_any_time
from tests.settlement.fake_settlement import FakeSettlement, MovedClock

if TYPE_CHECKING:
    from bot.orders.order import Order

KEY = "pk_live_abc.secret-part"
OTHER = model.OrderRequest(method=BCA, number="1", holder=None, amount=Amount("IDR", 20_000), channel="lightning")
HASTY = replace(RULES, longest_request=timedelta(seconds=9), longest_answer=timedelta(seconds=33))
"""The first byte has to be sent within two seconds."""


class RealTime(MovedClock):
    """The machine's clock, where a test's clock is expected."""

    def now(self) -> datetime:
        return SystemClock().now()


class OneRequest(FakeSettlement):
    """A service of the test, except for the request that creates an order."""

    def __init__(self, client: SettlementClient, notes: Path) -> None:
        super().__init__(RealTime())
        self._client = client
        self._notes = notes
        self.order: Order | None = None

    async def place(self, request: model.OrderRequest, may_send: model.MaySend = at_any_time) -> model.CreatedOrder:
        asking = asyncio.create_task(self._client.place(request, may_send))
        await asyncio.sleep(0.1)  # it waits for the connection
        assert self.order is not None
        self._notes.write_text(sent_by(self.order, HASTY).isoformat())
        return await asking


def main() -> None:
    """Run with the arguments of the command line."""
    url, database, notes = sys.argv[1:]
    asyncio.run(place_order(url, database, Path(notes)))


async def place_order(url: str, database: str, notes: Path) -> None:
    """Place an order while another request has the only connection, and end when its result is saved."""
    transport_module.MAX_CONNECTIONS = 1
    async with SettlementClient(url, KEY) as client:
        other = asyncio.create_task(client.place(OTHER))
        service = OneRequest(client, notes)
        system = OrderSystem(database, service, rules=HASTY)
        draft = await system.draft(amount=Amount("IDR", 50_000))
        service.order = await system.confirm(draft)
        await system.orders.submission.wait()
        await asyncio.gather(other, return_exceptions=True)
        await system.close()


if __name__ == "__main__":
    main()

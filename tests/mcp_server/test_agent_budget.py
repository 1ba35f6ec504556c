"""All requests of the tools wait for their common budget."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

import pytest

from bot.mcp_server.service import AgentRules, Service
from bot.settlement.errors import NoAnswer, SettlementFailure
from tests.settlement.builders import a_request
from tests.virtual_time import in_virtual_time, now

if TYPE_CHECKING:
    from bot.settlement.client import SettlementClient

Request = Callable[[Service], Awaitable[object]]
REQUESTS: tuple[tuple[str, Request], ...] = (
    ("payout_methods", lambda service: service.methods()),
    ("quote", lambda service: service.quote()),
    ("deposit_rails", lambda service: service.rails()),
    ("platform_stats", lambda service: service.stats()),
    ("look_up", lambda service: service.order("svc-1")),
    ("newest", lambda service: service.orders(10)),
    ("newest", lambda service: service.newest()),
    ("place", lambda service: service.create(a_request())),
)
"""What the tools request from the service, by the name of the client's method."""


class NotedClient:
    """A client that records when each request begins, and gets no answer."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, float]] = []

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def request(*_: object, **__: object) -> None:
            self.begun.append((name, now()))
            raise NoAnswer

        return request


async def begun(*requests: Request, per_second: float) -> list[tuple[str, float]]:
    """Start these requests at once. Return what the service received, and after how many seconds."""
    client, start = NotedClient(), now()
    rules = AgentRules(requests_per_second=per_second)
    service = Service(cast("SettlementClient", client), rules, seconds=now, sleep=asyncio.sleep)
    results = await asyncio.gather(*(request(service) for request in requests), return_exceptions=True)
    assert all(isinstance(result, SettlementFailure) for result in results), results
    return [(name, at - start) for name, at in client.begun]


@pytest.mark.parametrize(("name", "request_made"), REQUESTS)
def test_a_request_waits_for_the_one_before(name: str, request_made: Request) -> None:
    @in_virtual_time
    async def both() -> list[tuple[str, float]]:
        return await begun(lambda service: service.orders(10), request_made, per_second=2)

    assert both() == [("newest", 0.0), (name, 0.5)]


@in_virtual_time
async def test_all_requests_share_one_budget() -> None:
    found = await begun(*(request for _, request in REQUESTS), per_second=4)
    assert sorted(name for name, _ in found) == sorted(name for name, _ in REQUESTS)
    assert [at for _, at in found] == [0.25 * place for place in range(len(REQUESTS))]

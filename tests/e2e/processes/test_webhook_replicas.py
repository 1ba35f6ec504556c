"""Two replicas on PostgreSQL behind one webhook, whose deliveries reach them in turn."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.e2e.new_users import new_sender_at_review
from tests.e2e.orders.steps import complete_order
from tests.e2e.programs import running_program
from tests.e2e.system import System, running_system
from tests.harness.databases import new_database
from tests.ports import free_port
from tests.sandbox.serving import serving
from tests.texts import label, like

SECRET = "x-telegram-bot-api-secret-token"


@pytest.fixture
def database(postgresql_server: str) -> Iterator[str]:
    with new_database(postgresql_server) as url:
        yield url


class Balancer:
    """Passes each delivery to the next replica, or with `to_all` to all of them at once."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = ports
        self._turns = itertools.cycle(ports)
        self.to_all = False
        self.accepted = dict.fromkeys(ports, 0)

    @asynccontextmanager
    async def listening(self, port: int) -> AsyncIterator[None]:
        app = Starlette(routes=[Route("/telegram/{secret}", self._deliver, methods=["POST"])])
        async with httpx.AsyncClient(trust_env=False, timeout=30) as self._client, serving(app, port):
            yield

    async def _deliver(self, request: Request) -> Response:
        body, path, secret = await request.body(), request.url.path, request.headers.get(SECRET, "")
        chosen = self._ports if self.to_all else (next(self._turns),)
        statuses = await asyncio.gather(*(self._post(port, path, body, secret) for port in chosen))
        return Response(status_code=min(statuses))

    async def _post(self, port: int, path: str, body: bytes, secret: str) -> int:
        try:
            answer = await self._client.post(f"http://127.0.0.1:{port}{path}", content=body, headers={SECRET: secret})
        except httpx.TransportError:
            return 503
        self.accepted[port] += answer.is_success
        return answer.status_code


@asynccontextmanager
async def two_replicas(folder: Path, database: str) -> AsyncIterator[tuple[System, Balancer]]:
    front, first, second = free_port(), free_port(), free_port()
    balancer = Balancer((first, second))
    settings = {"DATABASE_URL": database, "RECEIVE": "webhook", "PUBLIC_URL": f"http://127.0.0.1:{front}"}
    async with (
        balancer.listening(front),
        running_system(folder, HTTP_PORT=str(first), **settings) as kirim,
        running_program(folder, "run", environment=kirim.environment | {"HTTP_PORT": str(second)}) as other,
    ):
        await other.says('"bot_started"')
        yield kirim, balancer


async def pay_for_an_order(kirim: System) -> None:
    """Let a new sender confirm, pay, and see that the rupiah were sent. The service has one order of theirs."""
    sender = await new_sender_at_review(kirim)
    await sender.chat.taps(label("checkout.review.confirm"), wait=0)
    order = await sender.has_order()
    await kirim.service.pays(order)
    await sender.chat.sees(like("orders.notification.paid"), anywhere=True)
    await complete_order(kirim, order)
    await sender.chat.sees(like("orders.notification.sent_bank"), anywhere=True)
    assert len(await sender.orders()) == 1
    assert await sender.chat.count(like("orders.notification.sent_bank")) == 1


async def test_a_payment_goes_through_two_replicas_in_turn(tmp_path: Path, database: str) -> None:
    async with two_replicas(tmp_path, database) as (kirim, balancer):
        await pay_for_an_order(kirim)
        assert all(balancer.accepted.values()), "each replica has received updates"
        assert [call["ok"] for call in await kirim.calls("setWebhook")] == [True], "only the leader sets the webhook"
        assert await kirim.calls("getUpdates") == []

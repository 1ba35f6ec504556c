"""A sandbox service for tests: its own clock, its control endpoints, and integrators who call it over ASGI."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

import httpx

from bot.sandbox.settlement import SANDBOX_API_KEY, SettlementSandboxSettings, create_app

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
BCA = {"partnerBankCode": "014", "partnerBankName": "BANK CENTRAL ASIA", "recipientDetails": "1234567890"}
GOPAY = {"partnerBankCode": "gopay", "partnerBankName": "GOPAY", "recipientDetails": "+6281234567890"}
KEY = {"x-api-key": SANDBOX_API_KEY}
ORDERS = "/v1/offramp/orders"


class Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = START
        self.slept: list[float] = []

    def __call__(self) -> datetime:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


class SettlementSystem:
    """The service and its callers. The poll limiter is off unless a test needs it."""

    def __init__(self, *, profile: str = "documented", state_path: Path | None = None, polls: float = 0) -> None:
        self.clock = Clock()
        self._profile = profile
        self._state_path = state_path
        self._polls = polls
        self.start()

    def start(self) -> None:
        settings = SettlementSandboxSettings(
            profile=self._profile,
            state_path=self._state_path,
            clock=self.clock,
            sleep=self.clock.sleep,
        )
        self.app = create_app(settings)
        service = self.app.state.service
        service.switches = service.switches.changed({"secondsBetweenPolls": self._polls})
        transport = httpx.ASGITransport(self.app)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://service.test")

    def stop(self) -> None:
        self.app.state.service.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()
        self.stop()

    async def get(self, path: str, **kwargs: Any) -> httpx.Response:
        return await self.http.get(path, headers=KEY, **kwargs)

    async def post(self, **body: object) -> httpx.Response:
        """Post an order with exactly this body."""
        return await self.http.post(ORDERS, headers=KEY, json=body)

    async def place(self, **changes: object) -> dict[str, Any]:
        """Create an order for 150,000 rupiah to BCA, or as changed."""
        answer = await self.post(**{"idrAmount": 150_000, **BCA, **changes})
        assert answer.is_success, answer.text
        placed: dict[str, Any] = answer.json()
        return placed

    async def read(self, order_id: str) -> dict[str, Any]:
        answer = await self.get(f"{ORDERS}/{order_id}")
        assert answer.status_code == 200, answer.text
        order: dict[str, Any] = answer.json()
        return order

    async def listed(self, **query: object) -> list[dict[str, Any]]:
        answer = await self.get(ORDERS, params=query)
        assert answer.status_code == 200, answer.text
        orders: list[dict[str, Any]] = answer.json()["orders"]
        return orders

    async def control(self, path: str, method: str = "POST", /, **body: object) -> dict[str, Any]:
        """Send a control request that must succeed."""
        answer = await self.try_control(path, method, **body)
        assert answer.status_code == 200, answer.text
        content: dict[str, Any] = answer.json()
        return content

    async def try_control(self, path: str, method: str = "POST", /, **body: object) -> httpx.Response:
        if method == "GET":
            return await self.http.get(f"/control/{path}", params={name: str(value) for name, value in body.items()})
        return await self.http.request(method, f"/control/{path}", json=body)

    async def states_by_hand(self, order_id: str) -> list[str]:
        """Return every state from payment to the end, moved manually."""
        await self.control("settings", speedSeconds=None)
        states = [(await self.control("pay", orderId=order_id))["order"]["state"]]
        while states[-1] not in {"COMPLETED", "FAILED"}:
            states.append((await self.control("advance", orderId=order_id))["order"]["state"])
        return states


def error_of(answer: httpx.Response) -> str:
    """Return the text of an error, which must be the body's only key (settlement API, 7)."""
    content = answer.json()
    assert list(content) == ["error"]
    assert isinstance(content["error"], str)
    assert content["error"]
    return str(content["error"])

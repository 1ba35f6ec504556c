"""The reverse proxy of compose.yaml: requests reach bots that are ready, and secrets don't reach its log."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.infra.http import ports, server
from tests.ops import caddy, compose
from tests.ports import closed_port
from tests.waiting import until

COMPOSE = compose.read()
needs_caddy = pytest.mark.skipif(shutil.which("caddy") is None, reason="Caddy isn't installed")
PAGE = "/p/secret-address"
WEBHOOK = "/telegram/secret-path"


class Bot:
    """A server that answers as a bot does, with its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_ready = True
        self.can_answer = asyncio.Event()
        self.can_answer.set()
        self.received: list[tuple[str, str, int]] = []

    def app(self) -> Starlette:
        """Return the server's application."""
        return Starlette(
            routes=[
                *(Route(path, self._answer_health) for path in ("/livez", "/readyz", "/healthz")),
                Route("/{rest:path}", self._answer, methods=["GET", "POST"]),
            ]
        )

    async def _answer_health(self, _request: Request) -> Response:
        await self.can_answer.wait()
        return Response(status_code=200 if self.is_ready else 503)

    async def _answer(self, request: Request) -> Response:
        body = await request.body()
        self.received.append((request.method, request.url.path, len(body)))
        await self.can_answer.wait()
        return PlainTextResponse(self.name)


@asynccontextmanager
async def _serving(bot: Bot) -> AsyncIterator[str]:
    listener = await ports.bind("127.0.0.1", 0)
    async with server.serve(bot.app(), listener):
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        bot.can_answer.set()
    listener.close()


def test_the_proxy_knows_every_bot() -> None:
    bots = COMPOSE.find_bots().items()
    assert caddy.list_bots() == [f"{name}:{compose.read_settings(each).http_port}" for name, each in bots]


def test_the_proxy_asks_for_readiness_and_serves_what_compose_says() -> None:
    text = caddy.CONFIGURATION.read_text(encoding="utf-8")
    assert "health_uri /readyz\n" in text
    assert "\n{$PROXY_ADDRESS} {\n" in text
    assert "PROXY_ADDRESS" in COMPOSE.services["proxy"]["environment"]
    (mount,) = [each for each in COMPOSE.services["proxy"]["volumes"] if each.startswith("./")]
    folder, target, _ = mount.split(":")
    assert caddy.CONFIGURATION.parent.samefile(compose.ROOT / folder)
    assert target == "/etc/caddy"  # where Caddy's image looks for a Caddyfile


@needs_caddy
@pytest.mark.process
@pytest.mark.parametrize("address", ["https://pay.example.com", ":80"])
def test_caddy_accepts_the_configuration(tmp_path: Path, address: str) -> None:
    text = caddy.CONFIGURATION.read_text(encoding="utf-8")
    for written, is_accepted in ((text, True), (text.replace("health_uri", "health_url"), False)):
        configuration = tmp_path / "Caddyfile"
        configuration.write_text(written, encoding="utf-8")
        # `adapt` instead of `validate`, which opens connections to the bots.
        done = subprocess.run(
            ["caddy", "adapt", "--config", str(configuration), "--adapter", "caddyfile"],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PROXY_ADDRESS": address},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode == 0) is is_accepted, done.stderr


@needs_caddy
@pytest.mark.process
async def test_requests_follow_the_bots_that_are_ready(tmp_path: Path) -> None:
    first, second = Bot("first"), Bot("second")
    async with AsyncExitStack() as stack:
        addresses = [await stack.enter_async_context(_serving(bot)) for bot in (first, second)]
        gone = f"127.0.0.1:{closed_port()}"
        frozen = {"response_header_timeout": "2s"}
        proxy = await stack.enter_async_context(caddy.running(tmp_path, [*addresses, gone], **frozen))

        async def ask() -> str:
            answer = await proxy.http.get(PAGE)
            return f"{answer.status_code} {answer.text}"

        async def all_by(name: str) -> bool:
            return {await ask() for _ in range(10)} == {f"200 {name}"}

        # One of the three can't be reached from the beginning. No request fails because of it.
        assert {await ask() for _ in range(20)} == {"200 first", "200 second"}
        first.is_ready = False
        await until(lambda: all_by("second"), what="that no request reaches a bot that isn't ready")
        first.is_ready, second.is_ready = True, False
        await until(lambda: all_by("first"), what="that requests move to the bot that is ready again")

        # A bot that was frozen in the middle of a request: another one answers.
        second.is_ready = True
        await until(lambda: _differ(ask), what="requests at both bots")
        first.can_answer.clear()
        assert {await ask() for _ in range(4)} == {"200 second"}

        for path in ("/livez", "/readyz", "/healthz", "/%72eadyz"):
            assert (await proxy.http.get(path)).status_code == 404
        assert {path for _, path, _ in first.received + second.received} == {PAGE}


async def _differ(ask: Callable[[], Awaitable[str]]) -> bool:
    return {await ask() for _ in range(6)} == {"200 first", "200 second"}


@needs_caddy
@pytest.mark.process
async def test_the_webhook_is_passed_on_once_and_secrets_are_not_logged(tmp_path: Path) -> None:
    bot = Bot("bot")
    gone = f"127.0.0.1:{closed_port()}"
    async with _serving(bot) as address, caddy.running(tmp_path, [gone, address], lb_try_duration="2s") as proxy:
        for _ in range(10):
            assert (await proxy.http.post(WEBHOOK, content=b"{}")).status_code == 200
        assert bot.received == [("POST", WEBHOOK, 2)] * 10
        assert (await proxy.http.post(WEBHOOK, content=b"x" * (1 << 20))).status_code == 200
        assert (await proxy.http.post(WEBHOOK, content=b"x" * (2 << 20))).status_code in {413, 502}
        bot.is_ready = False

        async def is_refused() -> bool:
            return (await proxy.http.get(PAGE, headers={"x-telegram-bot-api-secret-token": "secret-token"})).is_error

        await until(is_refused, what="a refusal without bots")
    log = proxy.log.read_text(encoding="utf-8")
    assert "no upstreams available" in log
    assert "secret" not in log

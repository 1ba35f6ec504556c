"""The built image: it starts, serves an order and ends, with a read-only root, no capability and its own user."""

import asyncio
import signal
import time
from pathlib import Path

import httpx
import pytest

from bot.__main__ import BAD_SETTINGS
from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.e2e.chat_user import ChatUser
from tests.image.container import CONFIG, ENVIRONMENT, Container, running
from tests.ports import free_port
from tests.texts import label, like
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.process

SECONDS_TO_END = 5
UID = 10_001
CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


async def test_it_serves_an_order_and_ends_within_seconds(data: Path, tmp_path: Path) -> None:
    port = free_port()
    options = SandboxOptions(state=tmp_path, page_port=0, service_port=0)
    async with servers(options) as addresses:
        settings = bot_environment(tmp_path, addresses)
        settings |= {"DATABASE_URL": ENVIRONMENT["DATABASE_URL"], "HTTP_PORT": str(port)}
        async with (
            running(data, log=tmp_path / "bot.log", **settings) as bot,
            httpx.AsyncClient(base_url=addresses.page, timeout=TIMEOUT_SECONDS) as http,
            httpx.AsyncClient(base_url=addresses.service, timeout=TIMEOUT_SECONDS) as control,
        ):
            await bot.says('"bot_started"')
            rights = _read_rights(bot)
            assert rights["Uid"] == rights["Gid"] == [UID] * 4
            assert rights["Groups"] == []
            assert [rights[kind] for kind in CAPABILITIES] == [[0]] * len(CAPABILITIES)
            assert rights["NoNewPrivs"] == [1]
            assert await _is_healthy(data, tmp_path, port)
            await _orders(ChatUser(http, 1001), control)
            begun = time.monotonic()
            bot.process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(bot.process.wait(), TIMEOUT_SECONDS) == 0
            assert time.monotonic() - begun < SECONDS_TO_END
        assert not await _is_healthy(data, tmp_path, port)
    assert (data / "kirim.db").stat().st_uid == UID


async def test_the_sandbox_is_not_part_of_the_image(data: Path, tmp_path: Path) -> None:
    async with running(data, ["python", "-m", "bot", "sandbox"], log=tmp_path / "log") as program:
        await program.says("The sandbox isn't part of this image.")
        assert await asyncio.wait_for(program.process.wait(), TIMEOUT_SECONDS) == BAD_SETTINGS


def _read_rights(bot: Container) -> dict[str, list[int]]:
    """Return the ids and capabilities of the bot, as the kernel has them."""
    text = Path(f"/proc/{bot.process.pid}/status").read_text(encoding="ascii")
    found = dict(line.split(":", 1) for line in text.splitlines())
    numbers = {
        name: 16 if name in CAPABILITIES else 10 for name in ("Uid", "Gid", "Groups", "NoNewPrivs", *CAPABILITIES)
    }
    return {name: [int(each, base) for each in found[name].split()] for name, base in numbers.items()}


async def _is_healthy(data: Path, folder: Path, port: int) -> bool:
    """Run the image's health check, which asks for /livez."""
    kind, *command = CONFIG["Healthcheck"]["Test"]
    assert kind == "CMD"
    async with running(data, command, log=folder / "health.log", HTTP_PORT=str(port)) as check:
        return await asyncio.wait_for(check.process.wait(), TIMEOUT_SECONDS) == 0


async def _orders(emma: ChatUser, control: httpx.AsyncClient) -> None:
    """Send rupiah, pay, and see that they were sent."""
    await emma.says("/send 500rb bca 1234567890 Budi")
    await emma.sees(like("checkout.review.title"))
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    [order] = (await control.get("/control/orders")).raise_for_status().json()["orders"]
    (await control.post("/control/pay", json={"orderId": order["id"]})).raise_for_status()
    await emma.sees(like("orders.notification.sent_bank"))


async def test_its_root_cannot_be_written(data: Path, tmp_path: Path) -> None:
    for place, code in (("/venv/x", 1), ("/home/kirim/x", 1), ("/data/x", 0)):
        async with running(data, ["touch", place], log=tmp_path / "touch.log") as touch:
            assert await asyncio.wait_for(touch.process.wait(), TIMEOUT_SECONDS) == code, place
    assert (data / "x").stat().st_uid == UID


async def test_one_image_has_the_tools_for_agents_too(data: Path, tmp_path: Path) -> None:
    port = free_port()
    settings = {"SERVICE_API_KEY": "pk_live_a.b", "SERVICE_MCP_TRANSPORT": "http", "SERVICE_MCP_HTTP_TOKEN": "made-up"}
    async with running(
        data, ["kirim-mcp"], log=tmp_path / "tools.log", SERVICE_MCP_PORT=str(port), **settings
    ) as tools:
        await tools.says("server_started")
        async with httpx.AsyncClient() as http:
            assert (await http.get(f"http://127.0.0.1:{port}/healthz")).status_code == 200


async def test_secrets_are_files(data: Path, tmp_path: Path) -> None:
    """It ends because of the first setting that is wrong in a file, and knows the others."""
    (data / "telegram_bot_token").write_text("wrong")
    settings = {"CREDENTIALS_DIRECTORY": "/data", "SERVICE_API_KEY": "pk_live_a.b"}
    async with running(data, log=tmp_path / "bot.log", **settings) as bot:
        assert await asyncio.wait_for(bot.process.wait(), TIMEOUT_SECONDS) == 2
    assert "TELEGRAM_BOT_TOKEN: must be a bot token" in bot.read_log()
    assert "SERVICE_API_KEY" not in bot.read_log()

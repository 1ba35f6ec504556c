"""What the wheel installs, in environments that have the locked packages and nothing else."""

import asyncio
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import venv
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from packaging.requirements import Requirement

from bot import __version__
from bot.sandbox.settlement import SANDBOX_API_KEY
from tests.architecture.source import pins
from tests.e2e.chat_user import ChatUser
from tests.ports import free_port
from tests.texts import like
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
REPOSITORY = "https://git.example.com/kirim/kirim"
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}
STDIO = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_payout_methods", "arguments": {}}},
]


@dataclass(frozen=True)
class Environment:
    """A virtual environment with Kirim."""

    folder: Path

    @property
    def site(self) -> Path:
        """Its folder of packages."""
        [site] = self.folder.glob("lib/python*/site-packages")
        return site

    def run(self, cwd: Path, command: str, *arguments: str, said: str = "", **settings: str) -> tuple[int, str, str]:
        """Run one of its commands to the end, and return its exit code, output and log."""
        done = subprocess.run(
            [self.folder / "bin" / command, *arguments],
            cwd=cwd,
            env=_environment(cwd, settings),
            input=said,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    @asynccontextmanager
    async def running(self, cwd: Path, command: str, *arguments: str, **settings: str) -> AsyncIterator[Path]:
        """Run one of its commands within the block, and yield the file of its log. It ends on SIGTERM with code 0."""
        log = cwd / f"{command}.log"
        with log.open("wb") as out:
            process = await asyncio.create_subprocess_exec(
                self.folder / "bin" / command,
                *arguments,
                cwd=cwd,
                env=_environment(cwd, settings),
                stdout=out,
                stderr=out,
            )
        try:
            yield log
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), TIMEOUT_SECONDS) == 0, log.read_text()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def _environment(home: Path, settings: dict[str, str]) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home)} | settings


def _make_environment(folder: Path, lock: str) -> Environment:
    """Make an environment with the packages of a lock file, which are those of this one."""
    venv.create(folder, with_pip=False)
    environment = Environment(folder)
    for name in {requirement.name for requirement in _locked(lock)}:
        for top in {file.parts[0] for file in importlib.metadata.files(name) or () if file.parts[0] != ".."}:
            original = Path(str(importlib.metadata.distribution(name).locate_file(top)))
            if top != "__pycache__" and not (environment.site / top).exists():
                (environment.site / top).symlink_to(original)
    return environment


def _pip(environment: Environment, command: str, *arguments: str, **settings: str) -> None:
    """Run pip in the environment, without an index."""
    pip = [sys.executable, "-m", "pip", "--python", str(environment.folder / "bin" / "python"), command, "--quiet"]
    done = subprocess.run(
        # Without a cache: it would know the sdist of an earlier run, which can have had the same path.
        [*pip, "--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings,
    )
    assert done.returncode == 0, done.stderr


def _locked(lock: str) -> Iterable[Requirement]:
    """Return what a lock file has for this machine."""
    for line in pins((ROOT / lock).read_text(encoding="utf-8")):
        requirement = Requirement(line.partition(" --hash")[0])
        if requirement.marker is None or requirement.marker.evaluate():
            yield requirement


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        env={**os.environ, "KIRIM_REPOSITORY": REPOSITORY},
    )
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = _make_environment(tmp_path_factory.mktemp("wheel"), "requirements.lock")
    _pip(environment, "install", str(wheel))
    return environment


@pytest.fixture(scope="module")
def tools(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = _make_environment(tmp_path_factory.mktemp("tools"), "requirements-mcp.lock")
    # The tools are a small part of the modules.
    _pip(environment, "install", "--no-compile", str(wheel))
    return environment


def test_it_holds_everything_that_is_no_module(installed: Environment) -> None:
    for needed in (
        "bot/locales/en/LC_MESSAGES/kirim.po",
        "bot/locales/id/LC_MESSAGES/kirim.po",
        "bot/core/locales/id.toml",
        "bot/orders/pay_page/templates/payment.html",
        "bot/sandbox/static/index.html",
        "bot/sandbox/service/payout-methods.json",
        "bot/recipients/known.json",
    ):
        assert (installed.site / needed).is_file(), needed
    assert list((installed.site / "bot/migrations/versions").glob("*.py"))
    in_tree = {p.relative_to(ROOT) for p in (ROOT / "bot").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert {str(path) for path in in_tree if not (installed.site / path).is_file()} == set()


async def test_the_sandbox_its_bot_and_the_tools_start(
    installed: Environment, tools: Environment, tmp_path: Path
) -> None:
    page, service, wallet = free_port(), free_port(), free_port()
    ports = ("--port", str(page), "--service-port", str(service), "--wallet-port", str(wallet))
    async with (
        installed.running(tmp_path, "kirim", "sandbox", "--state", "here", *ports) as log,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{page}", timeout=TIMEOUT_SECONDS) as http,
    ):
        await until(lambda: _says(log, f"http://127.0.0.1:{page}"), what="the sandbox's address")
        emma = ChatUser(http, 1001)
        await emma.says("/start")
        await emma.sees(like("home.start.text"))
        for environment in (installed, tools):
            assert _serves_over_stdio(environment, tmp_path, f"http://127.0.0.1:{service}") == __version__


async def _says(log: Path, words: str) -> bool:
    return words in await asyncio.to_thread(log.read_text)


def _serves_over_stdio(environment: Environment, cwd: Path, service: str) -> str:
    """Start `kirim-mcp`, ask the service for its banks, and return the version that it reports."""
    settings = {"SERVICE_API_KEY": SANDBOX_API_KEY, "SERVICE_BASE_URL": service}
    lines = "".join(json.dumps(each) + "\n" for each in STDIO)
    code, out, error = environment.run(cwd, "kirim-mcp", said=lines, **settings)
    assert code == 0, error
    answers: dict[int, dict[str, Any]] = {each["id"]: each["result"] for each in map(json.loads, out.splitlines())}
    assert not answers[2].get("isError"), answers[2]
    version: str = answers[1]["serverInfo"]["version"]
    return version


async def test_the_tools_start_over_http_without_the_libraries_of_the_bot_and_name_the_service_that_they_assume(
    tools: Environment, tmp_path: Path
) -> None:
    for name in ("telegram", "sqlalchemy", "babel", "alembic"):
        assert not (tools.site / name).exists()
    port = free_port()
    settings = {
        "SERVICE_API_KEY": SANDBOX_API_KEY,
        "SERVICE_MCP_TRANSPORT": "http",
        "SERVICE_MCP_PORT": str(port),
        "SERVICE_MCP_HTTP_TOKEN": "made-up",
    }
    async with tools.running(tmp_path, "kirim-mcp", **settings) as log, httpx.AsyncClient() as http:
        await until(lambda: _says(log, "server_started"), what="the server")
        assert (await http.get(f"http://127.0.0.1:{port}/healthz")).status_code == 200
        assumed = log.read_text()
        assert "http://127.0.0.1:8481" in assumed
        assert "SERVICE_BASE_URL" in assumed


@pytest.mark.parametrize("command", ["routes", "run"])
def test_without_the_libraries_of_the_bot_its_command_says_what_to_install(
    tools: Environment, tmp_path: Path, command: str
) -> None:
    code, out, error = tools.run(tmp_path, "kirim", command)
    assert (code, out) == (1, "")
    assert "only for AI agents (`kirim mcp`)" in error
    assert "install requirements.lock" in error
    assert len(error.splitlines()) == 1

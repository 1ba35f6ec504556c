"""compose.yaml: one bot by default, three with their proxy and monitoring in a profile, and every part fits."""

import asyncio
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.infra.http import ports, server
from bot.infra.http.health import Health
from bot.infra.metrics import LoopLag
from bot.infra.watchdog import ProcessState
from bot.mcp_server.config import AgentSettings
from tests.ops import compose
from tests.ops.compose import ENVIRONMENT, ROOT

if TYPE_CHECKING:
    from bot.infra.db.database import Database

DOCUMENT: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
COMPOSE = compose.build(DOCUMENT)
MONITORING = {"alertmanager", "grafana", "prometheus"}
BOTS = {"bot", "bot-2", "bot-3"}


def test_it_has_no_mistakes() -> None:
    assert compose.find_mistakes(COMPOSE) == []


def test_one_bot_its_database_and_the_backups_start_by_default() -> None:
    assert COMPOSE.find_started() == {"backup", "bot", "database"}


def test_the_profile_adds_two_bots_the_proxy_and_monitoring() -> None:
    assert COMPOSE.find_started("replicas") == {"backup", "database", "proxy"} | BOTS | MONITORING
    assert COMPOSE.find_started("tools") == {"backup", "bot", "database", "tools"}


def test_only_the_first_bot_has_a_port_on_the_machine_and_only_for_it() -> None:
    published = {name: each.get("ports", []) for name, each in COMPOSE.find_bots().items()}
    assert published == {"bot": ["127.0.0.1:8080:8080"], "bot-2": [], "bot-3": []}
    assert "ports" not in COMPOSE.services["database"]
    assert "ports" not in COMPOSE.services["prometheus"]


def test_the_first_start_needs_nothing_of_the_profiles() -> None:
    names = {"TELEGRAM_BOT_TOKEN", "SERVICE_API_KEY", "SERVICE_BASE_URL", "ENCRYPTION_KEYS", "POSTGRES_PASSWORD"}
    least = {name: ENVIRONMENT[name] for name in names}
    assert compose.find_mistakes(compose.read(environment=least)) == []
    del least["POSTGRES_PASSWORD"]
    with pytest.raises(ValueError, match="POSTGRES_PASSWORD"):
        compose.read(environment=least)


@pytest.mark.parametrize(
    ("given", "served"),
    [
        ({}, ":80"),
        ({"PUBLIC_URL": "https://pay.example.com"}, "https://pay.example.com"),
        ({"PUBLIC_URL": "https://pay.example.com", "PROXY_ADDRESS": ":80"}, ":80"),
    ],
)
def test_the_proxy_serves_the_public_address_unless_another_is_named(given: dict[str, str], served: str) -> None:
    read = compose.read(environment={"POSTGRES_PASSWORD": "secret", **given})
    assert read.services["proxy"]["environment"] == {"PROXY_ADDRESS": served}


def test_the_tools_get_only_their_own_variables() -> None:
    names = {name.upper() for name in AgentSettings.model_fields}
    assert COMPOSE.services["tools"]["environment"].keys() <= names


def test_health_checks_ask_for_pages_that_the_bot_has() -> None:
    pages = {route.path for route in Health(cast("Database", None), ProcessState(), LoopLag()).routes()}
    for name, service in COMPOSE.find_bots().items():
        (asked,) = re.findall(r"'(/\w+)'", service["healthcheck"]["test"][-1])
        assert asked == "/readyz", name
        assert asked in pages
    (in_image,) = re.findall(r"HTTP_PORT\\\"\]\}(/\w+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert in_image == "/livez"
    assert in_image in pages


@pytest.mark.process
async def test_the_health_check_of_a_bot_follows_its_answer() -> None:
    """It runs as the container runs it, but with a free port."""
    settings = compose.read_settings(COMPOSE.services["bot"])
    command = COMPOSE.services["bot"]["healthcheck"]["test"]
    assert command[:3] == ["CMD", "python", "-c"]
    assert command[3].count(str(settings.http_port)) == 1
    status = 200

    async def answer(_request: Request) -> Response:
        return Response(status_code=status)

    listener = await ports.bind("127.0.0.1", 0)
    code = command[3].replace(str(settings.http_port), str(listener.getsockname()[1]))

    async def check() -> int:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stderr=subprocess.DEVNULL)
        return await process.wait()

    async with server.serve(Starlette(routes=[Route("/readyz", answer)]), listener):
        assert await check() == 0
        status = 503
        assert await check() == 1
    listener.close()
    assert await check() == 1


@pytest.mark.process
@pytest.mark.parametrize(("hours", "healthy"), [(24, True), (26, False)])
def test_the_backup_is_unhealthy_if_its_newest_dump_is_too_old(tmp_path: Path, hours: int, *, healthy: bool) -> None:
    backup = COMPOSE.services["backup"]
    for name, age in (("kirim-1.dump", 99), ("kirim-2.dump", hours), ("other", 0)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age * 3600,) * 2)
    environment = {"BACKUP_FOLDER": str(tmp_path), "BACKUP_HOURS": backup["environment"]["BACKUP_HOURS"]}
    checked = subprocess.run(["/bin/sh", "-c", backup["healthcheck"]["test"][1]], env=environment, check=False)
    assert (checked.returncode == 0) is healthy


@pytest.mark.process
def test_grafana_does_not_start_without_a_password() -> None:
    command = COMPOSE.services["grafana"]["entrypoint"]
    started = [*command[:2], command[2].replace("exec /run.sh", "echo started")]
    for password, output in (("", "Set GRAFANA_PASSWORD in .env\n"), ("secret", "started\n")):
        done = subprocess.run(
            started, env={"GF_SECURITY_ADMIN_PASSWORD": password}, capture_output=True, text=True, check=False
        )
        assert done.stdout + done.stderr == output
        assert done.returncode == (not password)

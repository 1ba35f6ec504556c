"""compose.yaml: one bot by default, three with their proxy and monitoring in a profile, and every part fits."""

import asyncio
import copy
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
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
Change = Callable[[dict[str, Any]], object]


def test_it_has_no_mistakes() -> None:
    assert compose.find_mistakes(COMPOSE) == []


def test_one_bot_its_database_and_the_backups_start_by_default() -> None:
    assert COMPOSE.find_started() == {"backup", "bot", "database"}


def test_the_profile_adds_two_bots_the_proxy_and_monitoring() -> None:
    assert COMPOSE.find_started("replicas") == {"backup", "database", "proxy"} | BOTS | MONITORING
    assert COMPOSE.find_started("tools") == {"backup", "bot", "database", "tools"}


def test_the_three_bots_are_alike() -> None:
    assert COMPOSE.find_bots().keys() == BOTS
    apart = {"build", "ports", "profiles", "pull_policy"}
    first, *others = ({key: each[key] for key in each.keys() - apart} for each in COMPOSE.find_bots().values())
    assert others == [first, first]


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


def _set(service: str, key: str, value: object) -> Change:
    return lambda document: document["services"][service].update({key: value})


def _drop(service: str, key: str) -> Change:
    return lambda document: document["services"][service].pop(key)


def _give(service: str, name: str, value: object) -> Change:
    return lambda document: document["services"][service]["environment"].update({name: value})


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        (lambda document: document.update(service={}), "service is no part of a file of Compose"),
        (_set("proxy", "memory_limit", "1g"), "proxy: no key memory_limit"),
        (_set("grafana", "image", "grafana/grafana"), "grafana: grafana/grafana isn't an exact version"),
        (_set("database", "image", "postgres:17"), "database: postgres:17 isn't an exact version"),
        (_drop("database", "image"), "database: it has neither an image nor a build"),
        (_drop("bot-2", "pull_policy"), "bot-2: its image is either built or never pulled"),
        (_set("bot", "depends_on", {"base": {"condition": "service_healthy"}}), "bot: there is no base"),
        (_set("bot", "depends_on", {"database": {"condition": "service_started"}}), "until database is healthy"),
        (_set("bot", "depends_on", {"proxy": {"condition": "service_healthy"}}), "bot: proxy doesn't start with it"),
        (_set("proxy", "volumes", ["./ops/nothing:/etc/caddy:ro"]), "proxy: there is no ./ops/nothing"),
        (_set("proxy", "volumes", ["./ops/compose/caddy:/etc/caddy"]), "proxy: it can write to ./ops/compose/caddy"),
        (_set("database", "volumes", ["data:/var/lib"]), "database: there is no volume data"),
        (_set("database", "volumes", ["data:/var/lib"]), "volume database isn't used"),
        (_set("grafana", "volumes", ["./ops:/a:ro", "grafana:/a"]), "grafana: two volumes have the same place"),
        (_set("grafana", "ports", ["3000:3000"]), "grafana: other machines reach its port 3000:3000"),
        (_set("bot-2", "ports", ["80:80"]), "bot-2: other machines reach its port 80:80"),
        (_set("bot-3", "ports", ["127.0.0.1:9464:9464"]), "bot-3: its metrics leave the network"),
        (_give("grafana", "GF_SECURITY_ADMIN_PASSWORD", "admin"), "GF_SECURITY_ADMIN_PASSWORD doesn't come from .env"),
        (
            _give("grafana", "GF_SECURITY_ADMIN_PASSWORD", "${GRAFANA_PASSWORD:-admin}"),
            "GF_SECURITY_ADMIN_PASSWORD doesn't come from .env",
        ),
        (_drop("proxy", "restart"), "proxy: its restart isn't unless-stopped"),
        (_drop("database", "read_only"), "database: its read_only isn't True"),
        (_set("backup", "cap_drop", []), "backup: its cap_drop isn't ['ALL']"),
        (_drop("tools", "security_opt"), "tools: its security_opt isn't "),
        (_drop("grafana", "pids_limit"), "grafana: its pids_limit isn't 200"),
        (_set("bot-2", "logging", {"driver": "local"}), "bot-2: its log isn't bounded"),
        (_set("proxy", "networks", ["web", "database"]), "proxy: its networks aren't those that it needs"),
        (lambda document: document["networks"].update(database={}), "network database leads to the internet"),
        (_give("bot", "POSTGRES_PASSWORD", "${POSTGRES_PASSWORD}"), "bot: it gets POSTGRES_PASSWORD"),
        (_drop("tools", "mem_limit"), "tools: its memory isn't limited"),
        (_drop("prometheus", "healthcheck"), "prometheus: it has no health check"),
        (_give("bot", "METRIC_PORT", 9464), "bot: METRIC_PORT is no setting"),
        (_give("bot", "METRICS_PORT", 8080), "METRICS_PORT must be another port than HTTP_PORT"),
        (_give("bot", "HTTP_PORT", "http"), "bot: HTTP_PORT: "),
        (_set("bot-3", "env_file", "other"), "bot-3: it doesn't read .env"),
        (_set("bot", "stop_grace_period", "5s"), "bot: it is killed before it ends"),
    ],
)
def test_a_mistake_is_found(change: Change, mistake: str) -> None:
    changed = copy.deepcopy(DOCUMENT)
    change(changed)
    assert [each for each in compose.find_mistakes(compose.build(changed)) if mistake in each]


def test_variables_are_replaced_as_compose_does_it() -> None:
    given = {"A": "1", "EMPTY": ""}
    assert compose.replace_variables("$$A ${A} ${EMPTY:-2} ${B:-${C:-3}} ${B:-${A}} ${A:?x} ${B}.", given) == (
        "$A 1 2 3 1 1 ."
    )


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


def _has_compose() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0


@pytest.mark.process
def test_docker_compose_accepts_the_file(tmp_path: Path) -> None:
    if not _has_compose():
        pytest.skip("Docker Compose isn't installed")
    shutil.copy(ROOT / "compose.yaml", tmp_path)
    (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in ENVIRONMENT.items()))
    for profile in ("replicas", "tools"):
        done = subprocess.run(
            ["docker", "compose", "--profile", profile, "config", "--quiet"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr

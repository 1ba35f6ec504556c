"""compose.yaml and what belongs to it, read as Docker Compose reads them, and the mistakes in them.

There is no container engine where the tests run. `find_mistakes` finds what Compose or a container would stumble over.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from bot.config import Settings
from bot.infra.db.vault import generate_key

ROOT: Final = Path(__file__).parents[2]
ENVIRONMENT: Final = {
    "TELEGRAM_BOT_TOKEN": "123:abc",
    "SERVICE_API_KEY": "pk_live_a.b",
    "SERVICE_BASE_URL": "https://service.example.com",
    "ENCRYPTION_KEYS": generate_key(),
    "POSTGRES_PASSWORD": "secret1",
    "GRAFANA_PASSWORD": "secret2",
    "ALERT_BOT_TOKEN": "456:def",
    "ALERT_CHAT_ID": "-100",
    "PUBLIC_URL": "https://pay.example.com",
    "SERVICE_MCP_HTTP_TOKEN": "secret3",
    "SERVICE_MCP_ALLOWED_HOSTS": "mcp.example.com",
}
"""An `.env` with everything that an operator can be asked for."""

EXACT_VERSION: Final = re.compile(r"[a-z/]+:v?\d+(?:\.\d+){1,2}(?:@sha256:[0-9a-f]{64})?")
OWN_IMAGE: Final = "kirim"
SAME_FOR_ALL: Final = {
    "read_only": True,
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges:true"],
    "pids_limit": 200,
    "restart": "unless-stopped",
}
"""What every service has."""

NEEDS: Final = {
    "bot": {"database", "metrics", "web"},
    "tools": {"tools"},
    "database": {"database"},
    "backup": {"database"},
    "proxy": {"web"},
    "alertmanager": {"alerts"},
    "prometheus": {"alerts", "dashboard", "metrics"},
    "grafana": {"dashboard"},
}
"""The networks of each service, so that only those that need each other share one."""

INTERNAL: Final = frozenset({"database", "metrics"})
SECRETS_FOLDER: Final = "./secrets/"
"""Whose folders don't have to exist."""

OF_OTHERS: Final = frozenset({"ALERT_BOT_TOKEN", "GRAFANA_PASSWORD", "POSTGRES_PASSWORD", "SERVICE_MCP_HTTP_TOKEN"})
"""Secrets in `.env` that the bot must not get."""

SECRET: Final = re.compile(r"PASSWORD|TOKEN|KEY|DATABASE_URL")
SHUTDOWN_SECONDS: Final = 5
"""The bot ends within this time (docs/setup.md, exit code 0)."""

PUBLIC_PORTS: Final = frozenset({"80:80", "443:443", "443:443/udp"})


@dataclass(frozen=True)
class Compose:
    """A file of Compose with its variables replaced, and the files of the repository that it needs."""

    services: dict[str, dict[str, Any]]
    volumes: frozenset[str]
    networks: dict[str, dict[str, Any]]
    raw: dict[str, dict[str, Any]] = field(repr=False)
    """The services with their variables."""

    def find_started(self, *profiles: str) -> set[str]:
        """Return the services that start with these profiles."""
        wanted = set(profiles)
        return {name for name, each in self.services.items() if not get_profiles(each) or get_profiles(each) & wanted}

    def find_bots(self) -> dict[str, dict[str, Any]]:
        """Return the services that run the bot."""
        return {name: each for name, each in self.services.items() if "env_file" in each}


def read(path: Path = ROOT / "compose.yaml", environment: Mapping[str, str] = ENVIRONMENT) -> Compose:
    """Return a file of Compose as it is with the variables of `environment`.

    Raises:
        ValueError: a variable is required, and isn't set.
    """
    return build(yaml.safe_load(path.read_text(encoding="utf-8")), environment)


def build(document: dict[str, Any], environment: Mapping[str, str] = ENVIRONMENT) -> Compose:
    """Return what `document` means, as `read` does."""
    # Compose replaces the variables of every service, whether its profile is on or not.
    filled = {name: _replace(each, environment) for name, each in document["services"].items()}
    volumes, networks = frozenset(document.get("volumes", {})), document.get("networks", {})
    return Compose(filled, volumes, networks, document["services"])


def replace_variables(text: str, environment: Mapping[str, str]) -> str:
    """Replace `$$`, `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, nested ones included.

    Raises:
        ValueError: a variable is required, and isn't set.
    """
    found = re.search(r"\$(?:\$|\{([A-Z_]+)(?::([-?])((?:[^{}]|\$\{[^{}]*\})*))?\})", text)
    if found is None:
        return text
    name, sign, rest = found.groups()
    if name is None:
        value = "$"
    elif environment.get(name):
        value = environment[name]
    elif sign == "?":
        raise ValueError(f"{name}: {rest}")
    else:
        value = replace_variables(rest or "", environment)
    return text[: found.start()] + value + replace_variables(text[found.end() :], environment)


def _replace(value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _replace(each, environment) for key, each in value.items()}
    if isinstance(value, list):
        return [_replace(each, environment) for each in value]
    return replace_variables(value, environment) if isinstance(value, str) else value


def find_mistakes(compose: Compose) -> list[str]:
    """Return what is wrong, a sentence each."""
    found = list[str]()
    for name, service in compose.services.items():
        found += [f"{name}: {mistake}" for mistake in _find_mistakes_of(name, service, compose)]
    internal = {name for name, each in compose.networks.items() if each.get("internal")}
    found += [f"network {name} leads to the internet" for name in sorted(INTERNAL - internal)]
    return found


def _find_mistakes_of(name: str, service: dict[str, Any], compose: Compose) -> Iterator[str]:
    yield from _check_image(service)
    yield from _check_dependencies(service, compose)
    yield from _check_volumes(service, compose)
    yield from _check_ports(name, service)
    yield from _check_secrets(compose.raw[name])
    yield from (f"its {key} isn't {value}" for key, value in SAME_FOR_ALL.items() if service.get(key) != value)
    if not {"max-size", "max-file"} <= service.get("logging", {}).get("options", {}).keys():
        yield "its log isn't bounded"
    if set(service.get("networks", ())) != NEEDS.get(name.partition("-")[0]):
        yield "its networks aren't those that it needs"
    if not re.fullmatch(r"\d+[mg]", str(service.get("mem_limit"))):
        yield "its memory isn't limited"
    if "test" not in service.get("healthcheck", {}):
        yield "it has no health check"
    if "env_file" in service:
        yield from _check_bot(service)


def _check_image(service: dict[str, Any]) -> Iterator[str]:
    image = service.get("image", OWN_IMAGE)
    if image != OWN_IMAGE and not EXACT_VERSION.fullmatch(image):
        yield f"{image} isn't an exact version"


def _check_dependencies(service: dict[str, Any], compose: Compose) -> Iterator[str]:
    for other, how in service.get("depends_on", {}).items():
        needed = compose.services.get(other)
        if needed is None:
            yield f"there is no {other}"
        elif not get_profiles(service) >= get_profiles(needed) or (get_profiles(needed) and not get_profiles(service)):
            yield f"{other} doesn't start with it"
        elif how != {"condition": "service_healthy"}:
            yield f"it doesn't wait until {other} is healthy"


def _check_volumes(service: dict[str, Any], compose: Compose) -> Iterator[str]:
    for source, is_read_only in _list_volumes(service):
        if not source.startswith("./"):
            if source not in compose.volumes:
                yield f"there is no volume {source}"
        elif not source.startswith(SECRETS_FOLDER) and not (ROOT / source).exists():
            yield f"there is no {source}"
        elif not is_read_only:
            yield f"it can write to {source}"


def _list_volumes(service: dict[str, Any]) -> list[tuple[str, bool]]:
    """Return the source of each volume, and whether it can only be read."""
    parts = [each.split(":") for each in service.get("volumes", ())]
    return [(source, "ro" in rest[1:]) for source, *rest in parts]


def _check_ports(name: str, service: dict[str, Any]) -> Iterator[str]:
    for port in service.get("ports", ()):
        if not port.startswith("127.0.0.1:") and not (name == "proxy" and port in PUBLIC_PORTS):
            yield f"other machines reach its port {port}"
        if port.endswith(f":{service.get('environment', {}).get('METRICS_PORT')}"):
            yield "its metrics leave the network"


def _check_secrets(service: dict[str, Any]) -> Iterator[str]:
    for key, value in service.get("environment", {}).items():
        if SECRET.search(key) and value and not re.search(r"\$\{[A-Z_]+(?::-|:\?[^}]*)?\}", str(value)):
            yield f"{key} doesn't come from .env"


def _check_bot(service: dict[str, Any]) -> Iterator[str]:
    given = service.get("environment", {})
    yield from (f"{key} is no setting" for key in given.keys() - OF_OTHERS if key.lower() not in Settings.model_fields)
    yield from (f"it gets {key}" for key in sorted(OF_OTHERS) if given.get(key) != "")
    if service.get("env_file") != ".env":
        yield "it doesn't read .env"
    if _seconds(service.get("stop_grace_period", "0s")) <= SHUTDOWN_SECONDS:
        yield "it is killed before it ends"
    try:
        read_settings(service)
    except ValidationError as error:
        yield from (f"{'.'.join(map(str, each['loc'])).upper()}: {each['msg']}" for each in error.errors())


def read_settings(service: dict[str, Any]) -> Settings:
    """Return the settings that the bot of a service reads.

    Raises:
        ValidationError: they are wrong.
    """
    names = {name.upper() for name in Settings.model_fields}
    given = {**ENVIRONMENT, **service.get("environment", {})}
    return Settings(_env_file=None, **{name.lower(): given[name] for name in names & given.keys()})


def get_profiles(service: dict[str, Any]) -> set[str]:
    """Return the profiles of a service. It always starts if there are none."""
    return set(service.get("profiles", ()))


def _seconds(time: str) -> int:
    return int(time.removesuffix("s"))

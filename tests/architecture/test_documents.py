"""The documents and the code agree."""

import re
from typing import Literal, get_args, get_origin

import pytest
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from bot.config import Settings
from bot.mcp_server.config import AgentSettings
from bot.settlement.model import STEP_OF_STATE
from tests.architecture.documents import DOCUMENTS, ROOT, check_listed, rows

SETTINGS = (("settings", Settings), ("agent-variables", AgentSettings))
OF_COMPOSE = {
    *("ALERT_BOT_TOKEN", "ALERT_CHAT_ID", "BACKUP_DAYS", "BACKUP_HOURS"),
    *("GRAFANA_PASSWORD", "POSTGRES_PASSWORD", "PROXY_ADDRESS"),
}
"""What compose.yaml alone reads."""

NAMES_OF_SETTINGS = {name.upper() for name in Settings.model_fields | AgentSettings.model_fields}
FOR_OPERATORS = [path for path in DOCUMENTS if path.name != "CONTRIBUTING.md" and path.parent.name != "decisions"]
"""Documents that mention settings only, and not the variables of the tests."""


@pytest.mark.parametrize(("table", "settings"), SETTINGS)
def test_the_documents_list_every_setting_and_no_other(table: str, settings: type[BaseSettings]) -> None:
    check_listed(table, (first.strip("`") for first, *_ in rows(table)), map(str.upper, settings.model_fields))


@pytest.mark.parametrize(("table", "settings"), SETTINGS)
def test_the_documents_give_the_defaults_and_ranges_of_the_code(table: str, settings: type[BaseSettings]) -> None:
    documented = {first.strip("`").lower(): (default, range_) for first, default, range_, _ in rows(table)}
    for name, field in settings.model_fields.items():
        default, range_ = documented[name]
        assert default == _default(field), name
        assert range_ == (_range(field) or range_), name
        assert range_, name


def _default(field: FieldInfo) -> str:
    """Return what a setting is when it isn't set, as the documents write it."""
    if field.is_required():
        return "required"
    if field.default_factory is not None:
        return "see meaning"
    if isinstance(field.default, bool):
        return str(field.default).lower()
    if isinstance(field.default, int | float):
        return f"{field.default:.12g}"
    return f"`{field.default}`" if field.default else "empty"


def _range(field: FieldInfo) -> str:
    """Return which values a setting accepts, as the documents write it; empty where it isn't a number or a choice."""
    if field.annotation is bool:
        return "true, false"
    if get_origin(field.annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(field.annotation))
    bounds = {type(each).__name__: getattr(each, type(each).__name__.lower(), None) for each in field.metadata}
    if "Gt" in bounds:
        return f"above {bounds['Gt']}, up to {bounds['Le']}"
    return f"{bounds['Ge']} to {bounds['Le']}" if "Ge" in bounds else ""


def test_settings_that_the_documents_mention_exist() -> None:
    mentioned = {name for path in FOR_OPERATORS for name in re.findall(r"`([A-Z]+(?:_[A-Z]+)+)[`=]", DOCUMENTS[path])}
    assert mentioned - NAMES_OF_SETTINGS - STEP_OF_STATE.keys() == OF_COMPOSE


def test_the_example_environment_has_all_that_compose_reads() -> None:
    read = set(re.findall(r"\$\{([A-Z_]+)", (ROOT / "compose.yaml").read_text(encoding="utf-8")))
    assert OF_COMPOSE | {"SERVICE_MCP_HTTP_TOKEN"} <= read <= _example()


def test_the_example_environment_asks_for_what_is_required_and_for_nothing_else() -> None:
    required = {name.upper() for name, field in Settings.model_fields.items() if field.is_required()}
    assert _example(commented=False) == required | {"POSTGRES_PASSWORD"}


def _example(*, commented: bool = True) -> set[str]:
    """Return the names in the example environment; without those that are commented out, if asked."""
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    return set(re.findall(r"^#?([A-Z_]+)=$" if commented else r"^([A-Z_]+)=$", "\n".join(lines), re.MULTILINE))

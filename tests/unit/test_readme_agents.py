"""What the README tells of the tools for AI agents, and the code, say the same."""

import json
import re

import pytest

from bot.agent_config import AgentSettings
from bot.agent_tools.http import body
from bot.sandbox.settlement import SANDBOX_API_KEY
from tests.unit.readme import ROOT, part, rows

SECTION = part("agents")
CONFIGURATIONS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)]
NAMES_NO_VALUE = re.compile(r"[^`0-9]+")


def test_every_variable_is_listed_and_no_other() -> None:
    listed = [name for first, *_ in rows("agent-variables") for name in re.findall(r"`([A-Z_]+)`", first)]
    assert sorted(listed) == sorted(name.upper() for name in AgentSettings.model_fields)


@pytest.mark.parametrize("name", AgentSettings.model_fields)
def test_defaults_are_named_as_they_are(name: str) -> None:
    field = AgentSettings.model_fields[name]
    told = next(second for first, second, *_ in rows("agent-variables") if f"`{name.upper()}`" in first)
    if field.is_required() or name == "service_mcp_http_token":
        assert NAMES_NO_VALUE.fullmatch(told)
    elif name == "service_mcp_allowed_hosts":
        assert NAMES_NO_VALUE.fullmatch(told)
        assert field.default == ()
    elif name != "port":
        assert told.strip("`") == str(field.default)


def test_a_client_is_configured_in_three_lines() -> None:
    for block in re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL):
        assert len(block.strip().splitlines()) == 3


def test_the_configurations_start_our_command_with_our_variables_or_ask_our_path() -> None:
    local, hosted = (each["mcpServers"]["kirim"] for each in CONFIGURATIONS)
    assert f'\n{local["command"]} = "bot.agent:main"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert set(local["env"]) <= {name.upper() for name in AgentSettings.model_fields}
    assert hosted["url"].endswith("/mcp")
    assert hosted["headers"] == {"Authorization": "Bearer …"}


def test_what_is_said_of_the_sandbox_and_the_limits_is_true() -> None:
    assert f"`{SANDBOX_API_KEY}`" in SECTION
    [when] = [second for first, second in rows("agent-limits") if "408" in first]
    assert re.findall(r"\d+", when) == [f"{body.WITHIN_SECONDS:.0f}", f"{body.MOST_BYTES >> 20}"]


def test_compose_hands_the_tools_nothing_but_their_own_variables() -> None:
    service = (ROOT / "compose.yaml").read_text(encoding="utf-8").split("\n  tools:\n")[1].split("\n  database:")[0]
    given = re.findall(r"^      ([A-Z_]+): ", service, re.MULTILINE)
    assert {"SERVICE_API_KEY", "SERVICE_MCP_HTTP_TOKEN"} <= set(given)
    assert set(given) <= {name.upper() for name in AgentSettings.model_fields}
    assert "env_file" not in service

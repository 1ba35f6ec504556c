"""The documents on the tools for AI agents and the code agree."""

import json
import re

from bot.mcp_server.config import AgentSettings
from bot.settlement.model import STEP_OF_STATE, TERMINAL_STATES
from tests.architecture.documents import ROOT, check_listed, part, rows
from tests.mcp_server.agent_system import open_agent_system

SECTION = part("agents")
CONFIGURATIONS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)]


def test_the_configurations_start_our_command_with_our_variables_or_ask_our_path() -> None:
    local, hosted = (each["mcpServers"]["kirim"] for each in CONFIGURATIONS)
    assert f'\n{local["command"]} = "bot.mcp_server:main"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert set(local["env"]) <= {name.upper() for name in AgentSettings.model_fields}
    assert hosted["url"].endswith("/mcp")
    assert hosted["headers"] == {"Authorization": "Bearer …"}


async def test_the_call_is_answered_as_the_documents_show_it() -> None:
    call, shown = (json.loads(block) for block in re.findall(r"```text\n(.*?)```", part("agent-call"), re.DOTALL))
    async with open_agent_system("documented") as system:
        answer = await system.does("create_offramp_order", **call)
    assert list(answer) == list(shown)
    for name in ("bolt11", "paymentUri"):
        assert re.match(r"(lightning:)?lnbcrt93750n1", shown[name])
        assert re.match(r"(lightning:)?lnbcrt93750n1", answer[name])
    new = {"orderId", "bolt11", "paymentUri"}
    assert {name: answer[name] for name in answer.keys() - new} == {name: shown[name] for name in shown.keys() - new}


def test_every_state_is_explained() -> None:
    named = [name for first, *_ in rows("agent-states") for name in re.findall(r"`(\w+)`", first)]
    check_listed("agent-states", named, STEP_OF_STATE.keys() | TERMINAL_STATES)


def test_compose_hands_the_tools_nothing_but_their_own_variables() -> None:
    service = (ROOT / "compose.yaml").read_text(encoding="utf-8").split("\n  tools:\n")[1].split("\n  database:")[0]
    given = re.findall(r"^      ([A-Z_]+): ", service, re.MULTILINE)
    assert {"SERVICE_API_KEY", "SERVICE_MCP_HTTP_TOKEN"} <= set(given)
    assert {"MIN_ORDER_IDR", "INVOICE_NETWORK", "SERVICE_MCP_REQUESTS_PER_SECOND"} <= set(given)
    assert set(given) <= {name.upper() for name in AgentSettings.model_fields}
    assert "env_file" not in service

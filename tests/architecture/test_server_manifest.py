"""`server.json`, which describes the tools for the MCP registry, agrees with package, settings and server."""

import json
import re
import tomllib

from bot.__main__ import cli
from bot.mcp_server.config import AgentSettings
from tests.architecture.documents import ROOT, rows

MANIFEST = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
[PACKAGE] = MANIFEST["packages"]
VARIABLES = {variable["name"]: variable for variable in PACKAGE["environmentVariables"]}
DOCUMENTED = {
    name.strip("`"): (default.strip("`"), meaning)
    for name, default, _, meaning in rows("agent-variables")
    if "HTTP" not in meaning and "SERVICE_MCP_TRANSPORT" not in name
}
"""The variables that count over stdio, with their defaults and meanings."""


def _version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    code = (ROOT / "bot/__init__.py").read_text(encoding="utf-8")
    # If the version is dynamic, the package has it.
    return str(project.get("version") or re.findall(r'^__version__ = "(.+)"$', code, re.MULTILINE)[0])


def test_the_manifest_names_the_package_and_its_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # Nobody has published the package. Until then, both names are ones that can't lead to a package of strangers.
    assert MANIFEST["name"].startswith("com.example/")
    assert (PACKAGE["registryType"], PACKAGE["identifier"]) == ("pypi", f"example-com-{project['name']}")
    assert MANIFEST["version"] == PACKAGE["version"] == _version()
    assert MANIFEST["name"].partition("/")[2] == project["name"]


def test_the_readme_proves_whose_package_it_is() -> None:
    assert f"<!-- mcp-name: {MANIFEST['name']} -->" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_manifest_starts_the_tools_over_stdio() -> None:
    assert PACKAGE["transport"] == {"type": "stdio"}
    [argument] = PACKAGE["packageArguments"]
    assert argument["value"] in {command.name or command.callback.__name__ for command in cli.registered_commands}  # type: ignore[union-attr]


def test_the_manifest_has_each_variable_that_counts_over_stdio() -> None:
    assert set(VARIABLES) == set(DOCUMENTED) <= {name.upper() for name in AgentSettings.model_fields}
    for name, (default, meaning) in DOCUMENTED.items():
        variable = VARIABLES[name]
        is_required = default == "required"
        assert variable.get("isRequired", False) is is_required, name
        assert variable.get("default") == (None if is_required else default), name
        assert variable.get("isSecret", False) is meaning.startswith("Secret"), name
        is_number = AgentSettings.model_fields[name.lower()].annotation in {int, float}
        assert variable.get("format", "string") == ("number" if is_number else "string"), name

"""The README and the code say the same."""

import re
from pathlib import Path

from typer.main import get_command

from bot.__main__ import cli
from bot.agent_config import AgentSettings
from bot.config import Settings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_lists_every_setting_and_no_other() -> None:
    table = README.split("### Settings")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}
    assert listed == {name.upper() for name in Settings.model_fields}


def test_the_readme_names_the_defaults_as_they_are() -> None:
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, int | str) and field.default and not field.is_required():
            row = next(line for line in README.splitlines() if line.startswith("| `") and f"`{name.upper()}`" in line)
            assert str(field.default) in row, name


def test_the_readme_lists_every_command() -> None:
    table = README.split("| command | does |")[1].split("### Settings")[0]
    for name in get_command(cli).commands:  # type: ignore[attr-defined]
        assert f"`python -m bot {name}" in table


def test_the_readme_draws_the_conversation_as_the_code_does() -> None:
    drawn = (ROOT / "bot" / "chat" / "flow.mmd").read_text(encoding="utf-8").strip()
    assert drawn in README


def test_every_folder_the_readme_names_is_there() -> None:
    table = README.split("### The folders")[1].split("### Glossary")[0]
    for name in re.findall(r"`([a-z0-9_/]+/)`", table):
        assert (ROOT / name).is_dir(), name


def test_the_example_environment_names_settings_only() -> None:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    names = {line.lstrip("#").partition("=")[0] for line in lines if "=" in line}
    assert names <= {name.upper() for name in Settings.model_fields | AgentSettings.model_fields}

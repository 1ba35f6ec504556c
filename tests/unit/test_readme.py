"""The README and the code say the same."""

import re

from typer.main import get_command

from bot.__main__ import cli
from bot.agent_config import AgentSettings
from bot.config import Settings
from tests.unit.readme import README, ROOT, rows


def test_the_readme_lists_every_setting_and_no_other() -> None:
    listed = [name for first, *_ in rows("settings") for name in re.findall(r"`([A-Z_]+)`", first)]
    assert sorted(listed) == sorted(name.upper() for name in Settings.model_fields)


def test_the_readme_names_the_defaults_as_they_are() -> None:
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, int | str) and field.default and not field.is_required():
            default = next(second for first, second, *_ in rows("settings") if f"`{name.upper()}`" in first)
            assert str(field.default) in default, name


def test_the_readme_lists_every_command() -> None:
    listed = [first for first, *_ in rows("commands")]
    for name in get_command(cli).commands:  # type: ignore[attr-defined]
        assert any(f"`python -m bot {name}" in each for each in listed), name


def test_the_readme_draws_the_conversation_as_the_code_does() -> None:
    drawn = (ROOT / "bot" / "chat" / "flow.mmd").read_text(encoding="utf-8").strip()
    assert drawn in README


def test_every_folder_the_readme_names_is_there() -> None:
    named = [name for first, *_ in rows("folders") for name in re.findall(r"`([a-z0-9_/]+/)`", first)]
    assert named
    for name in named:
        assert (ROOT / name).is_dir(), name


def test_the_example_environment_names_settings_only() -> None:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    names = {line.lstrip("#").partition("=")[0] for line in lines if "=" in line}
    assert names <= {name.upper() for name in Settings.model_fields | AgentSettings.model_fields}

"""`kirim migrate` while a bot of another version runs: it says what to do, and changes nothing."""

import pytest
from typer.testing import CliRunner

from bot import __main__ as command
from bot import process
from bot.config import load
from tests.infra.keys import ENCRYPTION_KEYS


def test_a_running_bot_of_another_version_is_told_in_one_line_with_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load(
        None,
        telegram_bot_token="1:" + "A" * 35,
        service_api_key="pk_live_kirim.0123456789abcdef0123456789abcdef",
        service_base_url="http://127.0.0.1:9",
        encryption_keys=ENCRYPTION_KEYS,
    )

    async def refuse(_: object) -> str:
        raise process.BotIsRunning

    monkeypatch.setattr(command, "_settings", lambda: settings)
    monkeypatch.setattr("bot.infra.logging.configure", lambda *_: None)
    monkeypatch.setattr(process, "migrate", refuse)
    ended = CliRunner().invoke(command.cli, ["migrate"])
    assert ended.exit_code == 1
    assert ended.output.strip() == command.RUNNING_ON_OLDER_TABLES

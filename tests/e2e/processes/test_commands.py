"""The commands of the program: their output, their exit codes, and that they never print secrets."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.e2e.programs import run_program, running_program

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRETS = ("sandbox-token-not-secret", "not-a-secret-0123456789abcdef")
UNKNOWN_TOKEN = "525252:" + "AAFakeFakeFakeFakeFakeFakeFakeFakeFa"
UNKNOWN_KEY = "pk_live_sandbox.ffffffffffffffffffffffffffffffff"
NOWHERE = "http://127.0.0.1:9"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def settings(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, str]]:
    """Return the environment of a bot in a sandbox without a bot."""
    state = tmp_path_factory.mktemp("servers")
    async with servers(SandboxOptions(state=state, page_port=0, service_port=0)) as addresses:
        yield bot_environment(state, addresses)


@pytest.fixture
def environment(settings: dict[str, str], tmp_path: Path) -> dict[str, str]:
    return settings | {"DATABASE_URL": f"sqlite:///{tmp_path / 'kirim.db'}"}


async def test_all_missing_and_bad_settings_are_named_at_once_and_no_secret_is_told(tmp_path: Path) -> None:
    bad = {
        "SERVICE_API_KEY": "pk_live_kirim.tell-nobody\n",
        "DATABASE_URL": "mysql://kirim:hunter2@localhost/kirim",
        "POLL_INTERVAL_SECONDS": "0.2",
        "OPERATOR_IDS": "1001,emma",
    }
    for ended in await asyncio.gather(
        *(run_program(tmp_path, command, environment=bad, cold=True) for command in ("run", "check"))
    ):
        assert ended.code == 2
        said = ended.out + ended.err
        for name in ("TELEGRAM_BOT_TOKEN", "SERVICE_BASE_URL", *bad):
            assert said.count(f"{name}:") == 1, name
        assert not any(secret in said for secret in ("tell-nobody", "hunter2", "emma", "Traceback"))


async def test_a_token_that_telegram_refuses_ends_the_bot_with_code_2(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    given = {"TELEGRAM_BOT_TOKEN": UNKNOWN_TOKEN, "OPERATOR_ID": "2001"}  # and a slip of OPERATOR_IDS
    ended = await run_program(tmp_path, "run", environment=environment | given)
    assert ended.code == 2
    assert "bot_token_rejected" in ended.err
    assert '{"names": ["OPERATOR_ID"], "event": "settings_unknown"' in ended.err
    assert UNKNOWN_TOKEN.partition(":")[2] not in ended.err


async def test_check_tells_what_is_wrong_each_by_itself_and_changes_nothing(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    wrong = {"TELEGRAM_BOT_TOKEN": UNKNOWN_TOKEN, "SERVICE_API_KEY": UNKNOWN_KEY}
    ended, away = await asyncio.gather(
        run_program(tmp_path, "check", environment=environment | wrong),
        run_program(
            tmp_path, "check", environment=environment | {"TELEGRAM_API_URL": NOWHERE, "SERVICE_BASE_URL": NOWHERE}
        ),
    )
    assert (ended.code, away.code) == (1, 1)
    assert "ok    database: empty" in ended.out
    assert "ok    keys" in ended.out
    assert "FAILS Telegram: the token is rejected" in ended.out
    assert "FAILS service: the key pk_live_sandbox is rejected" in ended.out
    assert f"FAILS Telegram: can't connect to {NOWHERE}: connection refused" in away.out
    assert f"FAILS service: can't connect to {NOWHERE}: connection refused" in away.out
    last = ended.out.splitlines()[-1]
    assert last.startswith("2 problems. Fix Telegram first.")
    assert not (tmp_path / "kirim.db").exists()
    said = f"{ended.out}{ended.err}{away.out}{away.err}"
    assert not any(secret in said for secret in (*SECRETS, "FakeFake", "ffffffff", "Traceback"))


async def test_a_bot_that_cannot_reach_telegram_keeps_trying_and_ends_when_it_is_told_to(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    away = {"TELEGRAM_API_URL": NOWHERE, "LOG_FORMAT": "json"}
    async with running_program(tmp_path, "run", environment=environment | away) as bot:
        await bot.says("telegram_unreachable")
        assert await bot.ends_on(signal.SIGTERM) == 0

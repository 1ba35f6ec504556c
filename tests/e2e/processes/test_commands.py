"""The commands of the program: their output, their exit codes, and that they never print secrets."""

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from bot.infra.db import migrate
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


async def test_a_database_that_is_away_is_told_in_one_line_without_its_password(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    away = environment | {"DATABASE_URL": "postgresql://kirim:hunter2@127.0.0.1:9/kirim"}
    started, checked = await asyncio.gather(
        run_program(tmp_path, "run", environment=away), run_program(tmp_path, "check", environment=away)
    )
    assert (started.code, checked.code) == (1, 1)
    assert "DATABASE_URL" in started.err
    assert "connection refused" in started.err
    assert "FAILS database" in checked.out
    assert "connection refused" in checked.out
    assert "FAILS keys: not checked" in checked.out
    assert checked.out.count("connection refused") == 2
    assert "2 problems. Fix the database first." in checked.out
    assert "ok    service" in checked.out
    said = f"{started.err}{checked.out}{checked.err}"
    assert not any(word in said for word in ("hunter2", "Traceback", "Error"))


async def test_a_database_from_before_the_first_release_is_refused_in_one_line(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with closing(sqlite3.connect(tmp_path / "kirim.db")) as database, database:
        database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        database.execute("INSERT INTO alembic_version VALUES ('0015')")
    started, migrated, checked = await asyncio.gather(
        *(run_program(tmp_path, command, environment=environment) for command in ("run", "migrate", "check"))
    )
    made_before = "it was made by a version before 0.1.0. The last commit that can read it is 227a5386"
    assert (started.code, migrated.code, checked.code) == (2, 2, 1)
    assert started.err.splitlines()[-1] == f"Kirim can't use the database (DATABASE_URL): {made_before}."
    assert migrated.err.splitlines()[-1] == started.err.splitlines()[-1]
    assert f"FAILS database: {made_before}" in checked.out


async def test_migrating_twice_is_the_same_as_once_and_everything_is_found_to_work(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in environment.items()))
    first = await run_program(tmp_path, "migrate", environment={})
    again = await run_program(tmp_path, "migrate", environment={})
    assert (first.code, again.code) == (0, 0)
    assert migrate.get_expected_revision() in first.out
    assert first.out == again.out
    brief, whole = await asyncio.gather(
        run_program(tmp_path, "check", environment={}, cold=True),
        run_program(tmp_path, "check", "--verbose", environment={}),
    )
    assert (brief.code, whole.code) == (0, 0)
    results, settings, last = whole.out.splitlines()[:5], whole.out.splitlines()[5:-1], whole.out.splitlines()[-1]
    assert brief.out.splitlines() == [*results, last]
    works = ("database: ", "keys: ", "Telegram: ", "service: ", "settings: ")
    assert all(line.startswith(f"  ok    {name}") for line, name in zip(results, works, strict=True))
    assert migrate.get_expected_revision() in results[0]
    assert "@kirim_sandbox_bot" in results[2]
    for name in environment:
        assert any(f" {name} = " in line for line in settings), name
    said = brief.out + brief.err + whole.out + whole.err
    assert not any(secret in said for secret in SECRETS)


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

"""Encryption keys for operators: wrong ones are reported at once, and keys can be rotated while the bot runs."""

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from bot.infra.db.vault import generate_key
from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.e2e.programs import ProgramResult, run_program, running_program
from tests.infra.keys import name_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

OLD, NEW = generate_key(), generate_key()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def settings(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, str]]:
    """Return the environment of a bot in a sandbox without a bot."""
    state = tmp_path_factory.mktemp("servers")
    async with servers(SandboxOptions(state=state, page_port=0, service_port=0)) as addresses:
        yield bot_environment(state, addresses) | {"LOG_FORMAT": "json"}


@pytest.fixture
def environment(settings: dict[str, str], tmp_path: Path) -> dict[str, str]:
    return settings | {"DATABASE_URL": f"sqlite:///{tmp_path / 'kirim.db'}", "ENCRYPTION_KEYS": OLD}


def with_keys(environment: dict[str, str], *keys: str) -> dict[str, str]:
    return environment | {"ENCRYPTION_KEYS": ",".join(keys)}


async def runs_once(folder: Path, environment: dict[str, str]) -> None:
    """Start the bot, and end it."""
    async with running_program(folder, "run", environment=environment) as bot:
        await bot.says('"bot_started"')
        assert await bot.ends_on(signal.SIGTERM) == 0


def says_one_line_about_the_keys(ended: ProgramResult) -> bool:
    text = ended.err.splitlines()
    return [line for line in text if "ENCRYPTION_KEYS" in line] != [] and "Traceback" not in ended.err


def dump(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "kirim.db")) as database:
        return list(database.iterdump())


async def test_keys_that_do_not_fit_end_every_command_with_code_2_and_one_clear_line(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    await runs_once(tmp_path, environment)
    before, wrong = dump(tmp_path), with_keys(environment, NEW)
    started, checked, rotated = await asyncio.gather(
        *(run_program(tmp_path, command, environment=wrong) for command in ("run", "check", "rotate-keys"))
    )
    assert (started.code, checked.code, rotated.code) == (2, 2, 2)
    assert says_one_line_about_the_keys(started)
    assert says_one_line_about_the_keys(rotated)
    assert "FAILS keys: ENCRYPTION_KEYS don't match the database" in checked.out
    assert all(name_of(OLD) in said for said in (started.err, checked.out, rotated.err))
    assert dump(tmp_path) == before
    assert not any(key in each.out + each.err for key in (OLD, NEW) for each in (started, checked, rotated))

"""Encryption keys for operators: wrong ones are reported at once, and keys can be rotated while the bot runs."""

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from bot.app import create_database
from bot.config import load
from bot.infra.db.vault import generate_key
from bot.orders.order import Phase
from bot.orders.repository import OrderRepository
from bot.sandbox.run import SandboxOptions, bot_environment, servers
from tests.e2e.programs import ProgramResult, run_program, running_program
from tests.infra.keys import name_of
from tests.infra.on_disk import find_texts
from tests.orders.builders import an_order

pytestmark = pytest.mark.asyncio(loop_scope="module")

OLD, NEW = generate_key(), generate_key()
NUMBER = "7731008811"


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


async def writes_orders(environment: dict[str, str], count: int) -> None:
    """Create the database that a bot with these settings would leave."""
    store = create_database(load(None, **{name.lower(): value for name, value in environment.items()}))
    async with store.transaction() as tx:
        for n in range(count):
            await OrderRepository(tx).add(an_order(f"R{n}", number=NUMBER, phase=Phase.DONE))
    await store.close()


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


async def test_keys_are_changed_beside_a_running_bot_and_the_older_one_is_dropped(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    both = with_keys(environment, NEW, OLD)
    async with running_program(tmp_path, "run", environment=environment) as old_bot:
        await old_bot.says('"bot_started"')
        await writes_orders(environment, 250)
        early = await run_program(tmp_path, "rotate-keys", environment=both)
        assert early.code == 1
        assert "Restart it" in early.out
        assert "You can remove the older keys" not in early.out
        async with running_program(tmp_path, "run", environment=both) as bot:
            await bot.says('"standby_started"')
            assert await old_bot.ends_on(signal.SIGTERM) == 0
            await bot.says('"bot_started"')
            waiting = await run_program(tmp_path, "check", environment=both)
            assert waiting.code == 0
            assert "250 of 250 encrypted rows (100%) use an older key. Run: kirim rotate-keys" in waiting.out
            rotated = await run_program(tmp_path, "rotate-keys", environment=both)
            assert rotated.code == 0
            assert "orders: 200 of 250" in rotated.out
            assert "orders: 250 of 250" in rotated.out
            assert "You can remove the older keys from ENCRYPTION_KEYS" in rotated.out
            assert await bot.ends_on(signal.SIGTERM) == 0
    alone = with_keys(environment, NEW)
    await runs_once(tmp_path, alone)
    checked = await run_program(tmp_path, "check", environment=alone)
    assert "all 250 encrypted rows use the first key" in checked.out
    assert (await run_program(tmp_path, "run", environment=environment)).code == 2
    assert find_texts(tmp_path / "kirim.db", [NUMBER]) == {}

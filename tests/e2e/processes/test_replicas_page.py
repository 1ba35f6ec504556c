"""`make run ARGS="--replicas 3"`: several processes of the bot on one PostgreSQL, killed and frozen from the panel."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.sandbox import postgresql, process_locks
from tests.e2e.chat_user import ChatUser
from tests.e2e.processes.sandbox_program import ends_clean, open_sandbox
from tests.texts import like
from tests.waiting import until

pytestmark = pytest.mark.postgresql

JSON = {"content-type": "application/json"}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder in which the sandbox runs. PostgreSQL's files can be elsewhere."""
    yield tmp_path
    postgresql.delete(tmp_path / "here")


def list_held(folder: Path) -> list[str]:
    """Return the locks of what runs in the folder: the sandbox, its replicas, PostgreSQL, and who uses SQLite."""
    return sorted(path.stem for path in (folder / "here").glob("*.lock") if process_locks.is_held(path))


async def test_a_killed_sandbox_leaves_no_process_and_the_next_one_continues_with_any_number_of_replicas(
    folder: Path,
) -> None:
    async def has_nothing_left() -> bool:
        return list_held(folder) == []

    async with open_sandbox(folder) as (program, http):
        emma = ChatUser(http, 1001)
        await emma.says("/send")
        await emma.sees(like("checkout.destination.ask"))
        assert list_held(folder) == ["kirim.db", "replica-1", "sandbox"]
        await program.ends_on(signal.SIGKILL)
        await until(has_nothing_left, what="the end of the bot")
    async with open_sandbox(folder, "--replicas", "2") as (program, http):
        emma = ChatUser(http, 1001)
        await emma.says("bca")
        await emma.sees(like("checkout.number.ask_bank"))
        assert list_held(folder) == ["postgresql", "replica-1", "replica-2", "sandbox"]
        (await http.post("/replicas/2/freeze", headers=JSON)).raise_for_status()
        await program.ends_on(signal.SIGKILL)
        await until(has_nothing_left, what="the end of PostgreSQL and all replicas")
    async with open_sandbox(folder) as (program, http):
        emma = ChatUser(http, 1001)
        await emma.says("1234567890")
        await emma.sees(like("checkout.holder.ask"))
        await ends_clean(program, signal.SIGINT)
        assert await has_nothing_left()
    async with open_sandbox(folder, "--replicas", "2", "--fresh") as (program, http):
        emma = ChatUser(http, 1001)
        assert await emma.messages() == []
        await emma.says("/status")
        await emma.sees(like("orders.status.none"))
        (await http.post("/replicas/1/freeze", headers=JSON)).raise_for_status()
        await ends_clean(program, signal.SIGINT)
        assert await has_nothing_left()

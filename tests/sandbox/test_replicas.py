"""The replicas of a sandbox as processes, with a program in place of the bot, and the requests of the panel."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette

from bot.sandbox import leftovers, page, process_locks
from bot.sandbox.replicas import Replicas
from tests.ports import free_port
from tests.sandbox.stand_in import COMMAND
from tests.waiting import TIMEOUT_SECONDS, found, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.process

JSON = {"content-type": "application/json"}


@dataclass
class Panel:
    """The replicas, and the page's requests about them."""

    replicas: Replicas
    http: httpx.AsyncClient
    state: Path

    async def states(self) -> list[str]:
        return [replica["state"] for replica in (await self.http.get("/replicas")).json()["replicas"]]

    async def show(self, *states: str) -> None:
        await found(self.states, list(states).__eq__, what=f"{states}")

    async def act(self, number: int, action: str) -> httpx.Response:
        return await self.http.post(f"/replicas/{number}/{action}", headers=JSON)

    def pid(self, number: int) -> int:
        """Return the process's number, or 0 while it is being started."""
        return int((self.state / f"replica-{number}.lock").read_text() or 0)

    def has_ended(self, number: int) -> bool:
        return not process_locks.is_held(self.state / f"replica-{number}.lock")


def requests_to(replicas: Replicas | None) -> httpx.AsyncClient:
    app = Starlette(routes=page.routes(Starlette(), replicas))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://page.test", timeout=TIMEOUT_SECONDS)


@asynccontextmanager
async def running(state: Path, count: int = 2, **environment: str) -> AsyncIterator[Panel]:
    stop = asyncio.Event()
    replicas = Replicas(count, state, COMMAND)
    task = asyncio.create_task(replicas.run(environment, stop))
    async with requests_to(replicas) as http:
        try:
            yield Panel(replicas, http, state)
        finally:
            stop.set()
            await task


@pytest.fixture
async def panel(tmp_path: Path) -> AsyncIterator[Panel]:
    async with running(tmp_path) as made:
        await made.show("running", "running")
        yield made


async def test_the_panel_shows_state_leader_and_chats(panel: Panel) -> None:
    answer = (await panel.http.get("/replicas")).json()
    assert answer["replicas"][1] == {"number": 2, "state": "running", "leader": True, "chats": 3}


async def test_a_killed_replica_stays_dead_until_it_is_started(panel: Panel) -> None:
    answer = await panel.act(1, "kill")
    assert [replica["state"] for replica in answer.json()["replicas"]] == ["dead", "running"]
    assert answer.json()["replicas"][0]["chats"] is None
    assert panel.has_ended(1)
    assert (await panel.act(1, "freeze")).status_code == 409
    await panel.act(1, "restart")
    await panel.show("running", "running")


async def test_a_replica_that_ends_otherwise_is_started_again(panel: Panel) -> None:
    before = panel.pid(1)
    os.kill(before, signal.SIGKILL)

    async def is_another() -> bool:
        return panel.pid(1) not in {0, before}

    await until(is_another)
    await panel.show("running", "running")


async def test_a_frozen_replica_gets_no_connections_until_it_continues(panel: Panel) -> None:
    cut: list[int] = []
    panel.replicas.on_freeze = cut.append
    both = set(await panel.replicas.find_ready_ports())
    await panel.act(2, "freeze")
    assert await panel.states() == ["running", "frozen"]
    (left,) = await panel.replicas.find_ready_ports()
    assert {left, *cut} == both
    await panel.act(2, "continue")
    await panel.show("running", "running")
    assert set(await panel.replicas.find_ready_ports()) == both
    assert not panel.has_ended(2)


async def test_only_a_json_post_of_the_page_controls_a_replica(panel: Panel) -> None:
    assert (await panel.http.get("/replicas/1/kill")).status_code == 405
    forged = await panel.http.post("/replicas/1/kill", headers={"content-type": "text/plain"}, content="{}")
    assert forged.status_code == 415
    for number, action in ((3, "kill"), (0, "kill"), (1, "explode")):
        assert (await panel.act(number, action)).status_code == 409
    assert (await panel.http.post("/replicas/x/kill", headers=JSON)).status_code == 404
    assert await panel.states() == ["running", "running"]


async def test_the_only_bot_can_crash_and_is_started_again_but_not_be_killed_for_good(tmp_path: Path) -> None:
    ports = {"HTTP_PORT": str(free_port()), "METRICS_PORT": str(free_port())}
    async with running(tmp_path, 1, **ports) as panel:

        async def is_alive() -> bool:
            return bool((await panel.http.get("/replicas")).json() == {"replicas": [], "alive": [1]})

        await until(is_alive)
        before = panel.pid(1)
        for action in ("kill", "freeze", "restart"):
            assert (await panel.act(1, action)).status_code == 409
        assert (await panel.act(1, "crash")).json() == {"replicas": [], "alive": []}
        await until(is_alive)
        assert panel.pid(1) != before


async def test_what_a_killed_sandbox_left_is_killed_and_nothing_else(tmp_path: Path) -> None:
    async with running(tmp_path) as panel:
        await panel.show("running", "running")
        # A process that isn't in this folder any more: its number may be another program's by now.
        (tmp_path / "replica-9.lock").write_text(str(os.getpid()))
        killed = panel.pid(1), panel.pid(2)
        await asyncio.to_thread(leftovers.stop, tmp_path)

        async def are_replaced() -> bool:
            return not {panel.pid(1), panel.pid(2)} & {0, *killed}

        await until(are_replaced)


async def test_a_second_sandbox_on_a_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "WAIT_SECONDS", 0)
    said: list[str] = []
    with leftovers.only_sandbox(tmp_path, said.append):
        assert said == []
        with pytest.raises(leftovers.SandboxIsRunning, match="--state"), leftovers.only_sandbox(tmp_path, said.append):
            pass
        assert said == [f"Waiting up to 0 s for another sandbox in {tmp_path} to end."]
        # The watcher of a killed sandbox doesn't touch the next one.
        (tmp_path / "replica-1.lock").write_text(str(os.getpid()))
        with process_locks.locked(tmp_path / "replica-1.lock"):
            leftovers.main(tmp_path)
    with leftovers.only_sandbox(tmp_path):
        pass

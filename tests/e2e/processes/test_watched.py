"""The pages by which others watch the bot: the leader, a standby with ports of its own, and one without."""

import signal
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests.e2e.programs import run_program, running_program
from tests.e2e.system import System, running_system
from tests.ports import free_port
from tests.waiting import found

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = ("livez", "readyz", "healthz")


def ports() -> dict[str, str]:
    return {"HTTP_PORT": str(free_port()), "METRICS_PORT": str(free_port())}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def leader(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    async with running_system(tmp_path_factory.mktemp("kirim"), **ports()) as made:
        yield made


async def read(settings: Mapping[str, str], page: str) -> httpx.Response | None:
    """Return the answer of a page, or None if nobody listens."""
    port = settings["METRICS_PORT" if page == "metrics" else "HTTP_PORT"]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as browser:
        try:
            return await browser.get(f"/{page}")
        except httpx.ConnectError:
            return None


async def statuses(settings: Mapping[str, str]) -> list[int | None]:
    """Return the statuses of the pages of health. None means that nobody listens."""
    answers = [await read(settings, page) for page in PAGES]
    return [None if answer is None else answer.status_code for answer in answers]


async def metrics(settings: Mapping[str, str]) -> str:
    answer = await read(settings, "metrics")
    return "" if answer is None else answer.text


async def test_a_standby_is_live_and_not_ready_until_it_leads(leader: System, tmp_path: Path) -> None:
    own = {**leader.environment, **ports()}
    async with running_program(tmp_path, "run", environment=own) as standby:
        await standby.says('"standby_started"')
        await found(lambda: statuses(own), lambda seen: seen == [200, 503, 503], what="the standby's pages")
        assert "\nkirim_leading 0.0\n" in await metrics(own)
        await leader.kill_bot()
        await standby.says('"bot_started"')
        assert await statuses(own) == [200, 200, 200]
        assert "\nkirim_leading 1.0\n" in await metrics(own)
        assert await standby.ends_on(signal.SIGTERM) == 0
        assert await statuses(own) == [None, None, None]
    await leader.start_bot()


async def test_a_metrics_port_that_is_taken_ends_the_start_with_one_sentence(leader: System, tmp_path: Path) -> None:
    other = {
        **leader.environment,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'other.db'}",
        "HTTP_PORT": str(free_port()),
    }
    ended = await run_program(tmp_path, "run", environment=other)
    assert ended.code == 2
    said = [line for line in ended.err.splitlines() if not line.startswith("{")]
    where = f"127.0.0.1 port {other['METRICS_PORT']}"
    assert said == [f"Kirim can't open its metrics port (METRICS_HOST, METRICS_PORT): {where}: Address already in use"]
    assert not (tmp_path / "other.db").exists()

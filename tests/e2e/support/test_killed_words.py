"""Users open, add to, rate and reopen their own tickets, and no others."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.e2e.new_users import new_user
from tests.e2e.system import System, running_system
from tests.texts import label, like

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """Start a bot whose agents work in private. A group would take only 20 messages a minute."""
    async with running_system(tmp_path_factory.mktemp("tickets"), SUPPORT_CHAT_ID="0") as made:
        await made.rina.speaks("en")
        await made.rina.says("/start")
        yield made


async def test_what_was_written_survives_a_kill_and_is_taken_in_once(kirim: System) -> None:
    emma = await new_user(kirim)
    await emma.says("/help")
    await emma.taps(label("support.button.write_to_us"))
    await emma.sees(like("support.ticket.what_is_wrong"))
    await kirim.kill_bot()
    await emma.says("While you were away")
    await kirim.start_bot()
    taken = await emma.sees(like("support.ticket.is_open"), anywhere=True)
    await kirim.kill_bot()
    reply = await emma.says("And again", reply_to=taken)
    await kirim.start_bot()
    await emma.sees_reaction(reply, "👌")
    assert await emma.count(like("support.ticket.is_open")) == 1

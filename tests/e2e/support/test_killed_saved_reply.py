"""Saved replies are written in private, in both languages, and sent once, exactly as previewed."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from tests.e2e.bot_database import wait_until_all_sent
from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.support.saved_replies import add_saved_reply, preview_reply
from tests.e2e.support.tickets import open_ticket
from tests.e2e.system import System, running_system
from tests.texts import label, says

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def without_group(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """Start a bot with two agents and no group. Each works in private."""
    async with running_system(tmp_path_factory.mktemp("saved"), SUPPORT_IDS="3001,2001", SUPPORT_CHAT_ID="0") as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
            await staff.says("/start")
        yield made


@pytest.mark.parametrize(
    ("killed", "repeated"),
    [("before it is sent", [True]), ("before that is recorded", [False, True]), ("after that is recorded", [False])],
)
async def test_killed_behind_the_word_to_send_it_arrives_once_or_says_that_it_is_repeated(
    without_group: System, killed: str, repeated: list[bool]
) -> None:
    name = killed.replace(" ", "-")[:20].rstrip("-")
    await add_saved_reply(without_group.rina, name, en="Just once", id_="Sekali saja")
    case = await open_ticket(without_group, group=None)
    preview = await preview_reply(case, name)
    async with AsyncExitStack() as calls:
        await calls.enter_async_context(hold_call(calls_of(without_group, "editMessageText"), without_group.rina))
        if killed.startswith("before"):
            fault = "delay" if killed.endswith("sent") else "delay_after"
            await calls.enter_async_context(hold_call(calls_of(without_group, "sendMessage"), case.user, fault))
        await case.rina.taps(label("support.saved_reply.send"), message=preview, wait=0)
    if killed.startswith("after"):
        await case.user.sees("Just once", anywhere=True)
        await wait_until_all_sent(without_group, case.user)
    await kill_and_restart(without_group)
    await case.rina.sees_reaction(preview, "👌")
    assert [says(copy, "infra.outbox.again") for copy in await case.got()] == repeated

"""Kill -9 between claiming a ticket (`/next`) and answering it loses no ticket, and sends nothing twice."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from tests.e2e.bot_database import wait_until_all_sent
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.support.tickets import open_ticket
from tests.e2e.system import System, running_system
from tests.texts import label, like, says

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def without_group(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """Start a bot with two agents and no group. Each works in private."""
    async with running_system(tmp_path_factory.mktemp("next"), SUPPORT_IDS="3001,2001", SUPPORT_CHAT_ID="0") as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
            await staff.says("/start")
        yield made


async def see_page(agent: ChatUser, reference: str) -> Json:
    """Wait for the page of a ticket that the agent works on."""
    return await agent.waits_for(
        lambda m: reference in text_of(m) and label("support.next.when") in str(m.get("reply_markup")),
        anywhere=True,
        what="the page",
    )


@pytest.mark.parametrize("killed", ["before it is shown", "while it is shown", "before it is sent", "when it was sent"])
async def test_a_claimed_ticket_stays_its_agents_and_its_customer_gets_one_reply(
    without_group: System, killed: str
) -> None:
    case = await open_ticket(without_group, group=None)
    rina, oscar = case.rina, case.oscar
    if killed == "before it is shown":
        async with hold_call(calls_of(without_group, "sendMessage"), rina):
            await rina.says("/next")
        await kill_and_restart(without_group)
    else:
        await rina.says("/next")
    page = await see_page(rina, case.reference)
    if killed == "while it is shown":
        await kill_and_restart(without_group)
    await oscar.says("/next")
    await oscar.sees(like("support.next.none"))
    async with AsyncExitStack() as calls:
        if killed == "before it is sent":
            await calls.enter_async_context(hold_call(calls_of(without_group, "sendMessage"), case.user))
        if killed in {"before it is sent", "when it was sent"}:
            await calls.enter_async_context(hold_call(calls_of(without_group, "editMessageText"), rina))
        await rina.taps(label("support.next.close"), message=page, wait=0)
        if killed == "when it was sent":
            await case.user.sees(like("support.ticket.closed_solved"), anywhere=True)
            await wait_until_all_sent(without_group, case.user)
    if killed in {"before it is sent", "when it was sent"}:
        await kill_and_restart(without_group)
    await rina.waits_for(
        lambda m: m["message_id"] == page["message_id"] and says(text_of(m), "support.next.sent_and_closed"),
        anywhere=True,
        what="what was sent",
    )
    await case.user.sees(like("support.ticket.closed_solved"), anywhere=True)
    copies = await case.got()
    is_repeated = [
        says(copy, "infra.outbox.again") for copy in copies if not says(copy, "support.ticket.closed_solved")
    ]
    assert is_repeated == [killed == "before it is sent"], "one reply, which says so if it may have arrived before"
    await rina.says("/next")
    await rina.sees(like("support.next.none"))

"""Stories of a bot killed while it relays a message: everything arrives, and possible duplicates are marked."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.faults import calls_of, hold_call, kill_and_restart
from tests.e2e.support.tickets import OpenTicket, open_ticket
from tests.e2e.system import System, running_system
from tests.texts import label, like, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

AGAIN = like("infra.outbox.again")
SAID = "It is on its way"
BEFORE_AND_AFTER = pytest.mark.parametrize(("fault", "times"), [("delay", 1), ("delay_after", 2)])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def quiet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """A system where Rina, an agent, works in a private chat, without the message limit of groups."""
    async with running_system(tmp_path_factory.mktemp("killed"), SUPPORT_CHAT_ID="0") as made:
        await made.rina.speaks("en")
        await made.rina.says("/start")
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def case(quiet: System) -> OpenTicket:
    found = await open_ticket(quiet, group=None)
    await found.user.sees(like("support.ticket.heading", ticket=found.reference), anywhere=True)
    return found


async def killed_while(
    case: OpenTicket, method: str, chat: ChatUser, fault: str, cause: Callable[[], Awaitable[object]]
) -> None:
    """Kill the bot while a call waits before Telegram, or right after Telegram has handled it."""
    async with hold_call(calls_of(case.system, method), chat, fault):
        await cause()
    await kill_and_restart(case.system)


@BEFORE_AND_AFTER
async def test_an_answer_arrives_once_more_than_it_was_interrupted(case: OpenTicket, fault: str, times: int) -> None:
    said = await case.rina.says("Let me look", reply_to=case.card)
    await case.rina.sees_reaction(said, "👌")
    answers: list[dict[str, object]] = []

    async def answer() -> None:
        answers.append(await case.answers(SAID))

    await killed_while(case, "sendMessage", case.user, fault, answer)
    await case.user.sees(f"{SAID}(.|\n)*{AGAIN}", anywhere=True)
    await case.rina.sees_reaction(answers[0], "👌")
    assert await case.user.count(SAID) == times
    assert await case.user.count("Let me look") == 1


@BEFORE_AND_AFTER
async def test_a_user_s_words_reach_support_whatever_is_interrupted(case: OpenTicket, fault: str, times: int) -> None:
    said = await case.answers("What do you see?")
    got = await case.user.sees("What do you see")
    await case.rina.sees_reaction(said, "👌")

    async def reply() -> None:
        await case.user.says("Nothing at all yet", reply_to=got)

    await killed_while(case, "sendMessage", case.rina, fault, reply)
    await case.in_topic(f"{AGAIN}(.|\n)*Nothing at all yet")
    assert await case.rina.count(f"{case.reference}(.|\n)*Nothing at all yet") == times


async def test_a_press_that_is_met_again_after_a_restart_closes_once(case: OpenTicket) -> None:
    await case.presses(label("support.staff_ticket.close"))
    question = await case.in_topic(like("support.staff.closing", ticket=case.reference))

    async def close() -> None:
        await case.rina.taps(label("support.staff.close.solved"), message=question, wait=0)

    async with hold_call(calls_of(case.system, "answerCallbackQuery")):
        await close()
    await kill_and_restart(case.system)
    await case.user.sees(f"{case.reference}(.|\n)*{like('support.ticket.closed_at')}", anywhere=True)
    again = await case.answers("One more thing")
    await case.in_topic(like("support.staff.not_passed_on", why=text("support.ticket.closed")))
    assert [text_of(message) for message in await case.user.messages() if "One more" in text_of(message)] == []
    assert await case.rina.reaction(again) == ""

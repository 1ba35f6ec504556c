"""What an agent writes in a ticket's topic without replying is asked about, and never lost without a word."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.chat.system import InProcessSystem, running_in_process
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.faults import kill_and_restart, wait_until_idle
from tests.e2e.support.tickets import OpenTicket, open_ticket
from tests.pictures import png
from tests.texts import label, like, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASKED = like("support.staff.ask_to_send", user="Newcomer")
SEND, KEEP = label("support.staff.button.send", user="Newcomer"), label("support.staff.button.keep")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[InProcessSystem]:
    """Start a bot with two agents, Rina and Oscar, and a group in English."""
    async with running_in_process(
        tmp_path_factory.mktemp("conversation"), SUPPORT_IDS="3001,2001", DEFAULT_LOCALE="en"
    ) as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def case(kirim: InProcessSystem) -> OpenTicket:
    return await open_ticket(kirim)


def topic_of(case: OpenTicket) -> int:
    return int(case.card["message_thread_id"])


def asks_about(count: int) -> str:
    return like("support.staff.ask_to_send_all", user="Newcomer", count=count)


async def questions(case: OpenTicket) -> list[Json]:
    """Return the questions that stand in the topic."""
    found = [each for each in await case.rina.messages() if each.get("message_thread_id") == topic_of(case)]
    return [each for each in found if re.search(f"{ASKED}|{asks_about(2)}|{asks_about(3)}", text_of(each))]


async def test_plain_text_is_asked_about_under_it_and_sent_by_a_tap(case: OpenTicket) -> None:
    written = await case.rina.says("We are asking the bank.", topic=topic_of(case))
    question = await case.in_topic(ASKED)
    assert question["reply_to_message"]["message_id"] == written["message_id"]
    assert await case.got() == []
    assert (await case.rina.taps(SEND, message=question))["text"] == label("support.staff.sending")
    await case.user.sees("We are asking the bank")
    await case.rina.sees_reaction(written, "👌")
    await case.is_claimed_by(case.rina)
    await wait_until_idle(case.system)
    assert await questions(case) == []
    await case.rina.says("They call back today.", topic=topic_of(case))
    await case.rina.taps(SEND, message=await case.in_topic(ASKED))
    await case.user.sees("They call back today")
    assert len(await case.got()) == 2


async def test_what_is_kept_is_a_note_and_a_reply_to_it_too(case: OpenTicket) -> None:
    await case.rina.says("This customer was rude.", topic=topic_of(case))
    question = await case.in_topic(ASKED)
    await case.rina.taps(KEEP, message=question)
    kept = await case.in_topic(like("support.staff.noted", ticket=case.reference))
    assert kept["message_id"] == question["message_id"]
    await case.oscar.says("I agree", reply_to=kept)
    await case.rina.sees_times(2, like("support.staff.noted", ticket=case.reference))
    pressed = await case.rina.presses(question, f"tk:{case.reference}:send:1", force=True)
    assert pressed["text"] == label("support.staff.decided_already")
    assert await case.got() == []


async def test_several_messages_have_one_question_and_arrive_in_their_order(case: OpenTicket) -> None:
    for line in ("First", "Second"):
        await case.rina.says(line, topic=topic_of(case))
        await wait_until_idle(case.system)
    await case.rina.sends_photo(png(60, 40), "Third, the proof", topic=topic_of(case))
    question = await case.in_topic(asks_about(3))
    await wait_until_idle(case.system)
    assert [each["message_id"] for each in await questions(case)] == [question["message_id"]]
    await case.rina.taps(SEND, message=question)
    await case.user.sees("Third, the proof")
    assert [got.rpartition("\n")[2] for got in await case.got()] == ["First", "Second", "Third, the proof"]


async def test_closing_says_what_was_not_sent_and_a_closed_ticket_is_opened_first(case: OpenTicket) -> None:
    await case.rina.says("Solved, I think", topic=topic_of(case))
    question = await case.in_topic(ASKED)
    await case.presses(label("support.staff_ticket.close"))
    asked = await case.in_topic(like("support.staff.closing", ticket=case.reference))
    assert text("support.staff.closing_unsent", count=1) in text_of(asked)
    await case.rina.taps(label("support.staff.close.solved"), message=asked)
    pressed = await case.rina.taps(SEND, message=question)
    assert (pressed["show_alert"], pressed["text"]) == (True, label("support.ticket.closed"))
    await case.presses(label("support.staff_ticket.reopen"))
    await case.rina.taps(SEND, message=question)
    await case.user.sees("Solved, I think")


async def test_the_question_comes_after_a_restart_and_its_button_works_after_another(tmp_path: Path) -> None:
    async with running_in_process(tmp_path, DEFAULT_LOCALE="en") as system:
        case = await open_ticket(system)
        await system.stop_bot()
        written = await case.rina.says("While you were away", topic=topic_of(case))
        await system.start_bot()
        question = await case.in_topic(ASKED)
        await kill_and_restart(system)
        await case.rina.taps(SEND, message=question)
        await case.user.sees("While you were away")
        await case.rina.sees_reaction(written, "👌")
        assert len(await case.got()) == 1


async def test_a_group_reads_the_language_that_support_chooses(tmp_path: Path) -> None:
    async with running_in_process(tmp_path) as system:
        group = ChatUser(system.telegram, system.rina.id, SUPPORT_GROUP_ID)
        await group.says("/language")
        await group.sees(like("support.agent.ask_language", "id"))
        oscar = ChatUser(system.telegram, system.oscar.id, SUPPORT_GROUP_ID)
        pressed = await oscar.taps("English", message=(await group.messages())[-1])
        assert pressed["text"] == label("support.staff.not_yours")
        await group.taps("English")
        await group.sees(like("support.agent.language_changed"))
        case = await open_ticket(system)
        assert re.search(like("support.staff_ticket.unclaimed", reference=case.reference), text_of(case.card))
        await case.rina.says("Which words?", topic=topic_of(case))
        await case.in_topic(ASKED)
        await group.says("/help")
        await group.sees(like("support.agent.help"))
        moved = await system.telegram.post(f"/sandbox/chats/{SUPPORT_GROUP_ID}/migrate", json={})
        if moved.is_success:
            supergroup = ChatUser(system.telegram, system.rina.id, moved.json()["id"])
            await supergroup.says("/help")
            await supergroup.sees(like("support.agent.help"))

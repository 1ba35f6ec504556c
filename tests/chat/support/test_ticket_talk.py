"""An agent and a user write to each other through the bot, and the bot reports what was delivered."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.chat.system import running_in_process
from tests.e2e.chat_user import text_of
from tests.e2e.support.tickets import OpenTicket, open_ticket
from tests.e2e.system import System
from tests.pictures import png
from tests.texts import label, like, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

PICTURE = png(60, 40)


def refused(why: str) -> str:
    """Return a pattern for the message that a reply wasn't passed on, and why."""
    return like("support.staff.not_passed_on", why=text(why))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """Start a bot with two agents, Rina and Oscar, and a group in English."""
    async with running_in_process(
        tmp_path_factory.mktemp("talk"), SUPPORT_IDS="3001,2001", DEFAULT_LOCALE="en"
    ) as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def without_group(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """Start a bot with the same agents and no group. Each works in private."""
    async with running_in_process(
        tmp_path_factory.mktemp("quiet"), SUPPORT_IDS="3001,2001", SUPPORT_CHAT_ID="0"
    ) as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
            await staff.says("/start")
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def case(without_group: System) -> OpenTicket:
    return await open_ticket(without_group, group=None)


@pytest_asyncio.fixture(loop_scope="module")
async def in_group(kirim: System) -> OpenTicket:
    return await open_ticket(kirim)


async def test_an_answer_is_a_reply_in_the_topic_and_is_known_to_have_arrived(case: OpenTicket) -> None:
    sent = await case.rina.sends(
        html="It is <b>on its way</b>.",
        reply_to=case.card["message_id"],
    )
    got = await case.user.sees(like("support.ticket.from_support", ticket=case.reference))
    assert text_of(got).endswith("\nIt is on its way.")
    assert "blockquote" in {entity["type"] for entity in got["entities"]}
    assert "BCA ••••7890" in text_of(got)
    await case.rina.sees_reaction(sent, "👌")
    await case.is_claimed_by(case.rina)


async def test_pictures_and_files_go_along_each_part_of_an_album_by_itself(case: OpenTicket) -> None:
    await case.rina.sends_photo(PICTURE, "The proof", reply_to=case.card)
    got = await case.user.sees("The proof")
    assert await case.user.scans(got)
    await case.rina.sends_document("proof.pdf", b"%PDF", "As a file", reply_to=case.card)
    assert (await case.user.sees("As a file"))["document"]["file_name"] == "proof.pdf"
    for part in (1, 2):
        await case.rina.sends_photo(PICTURE, f"Part {part}", reply_to=case.card, album="77")
        assert "photo" in await case.user.sees(f"Part {part}")


async def test_a_note_and_a_reply_to_a_colleague_stay_among_staff(in_group: OpenTicket) -> None:
    topic = in_group.card["message_thread_id"]
    asked = await in_group.oscar.says("/note What do you think, Rina?", topic=topic)
    await in_group.in_topic(like("support.staff.noted"))
    await in_group.rina.says("I think it is the bank", reply_to=asked, topic=topic)
    await in_group.rina.says("/note Called the bank, they look into it", topic=topic)
    kept = await in_group.in_topic(like("support.staff.noted"))
    await in_group.oscar.says("They said the same to me", reply_to=kept)
    await in_group.oscar.sees(like("support.staff.noted"))
    await in_group.rina.says("/note Again", reply_to=in_group.card)
    await in_group.rina.sends_photo(PICTURE, "/note a screenshot of theirs", reply_to=in_group.card)
    await in_group.rina.sends_photo(PICTURE, "/nto a slip", reply_to=in_group.card)
    await in_group.in_topic(refused("support.staff.refusal.command"))
    await in_group.rina.says("/note", topic=topic)
    await in_group.in_topic(like("support.staff.how_to_note"))
    await in_group.answers("That's for you")
    await in_group.user.sees("That's for you")
    assert len(await in_group.got()) == 1


async def test_one_holds_a_ticket_and_another_takes_it_over_with_a_word(in_group: OpenTicket) -> None:
    assert (await in_group.presses(label("support.staff_ticket.claim")))["text"] == label("support.staff.claimed")
    await in_group.is_claimed_by(in_group.rina)
    await in_group.answers("I know better", by=in_group.oscar)
    await in_group.in_topic(refused("support.ticket.held_by_another"))
    await in_group.presses(label("support.staff_ticket.take"), by=in_group.oscar)
    question = await in_group.in_topic(like("support.staff.take_over", who="Rina", ticket=in_group.reference))
    await in_group.oscar.says("You are off today", reply_to=question)
    await in_group.in_topic(like("support.staff.remark.taken_over", by="Oscar", before="Rina") + "\nYou are off today")
    await in_group.is_claimed_by(in_group.oscar)
    await in_group.answers("Oscar here", by=in_group.oscar)
    await in_group.user.sees("Oscar here")
    assert len(await in_group.got()) == 1


async def test_who_has_blocked_the_bot_is_said_not_to_have_got_it_and_gets_it_later(case: OpenTicket) -> None:
    await case.user.blocks()
    sent = await case.answers("Are you there?")
    line = await case.in_topic(like("support.staff.remark.failed", why=text("support.staff.why.blocked")))
    assert await case.rina.reaction(sent) == ""
    assert await case.got() == []
    await case.user.blocks(blocked=False)
    await case.rina.taps(label("support.staff.button.again"), message=line)
    await case.user.sees("Are you there?")
    await case.rina.sees_reaction(sent, "👌")
    second = await case.rina.presses(line, f"tk:{case.reference}:again:1", force=True)
    assert second["show_alert"]
    assert len(await case.got()) == 1


async def test_a_closed_ticket_is_closed_with_a_reason_and_takes_no_answer_until_it_is_open_again(
    case: OpenTicket,
) -> None:
    await case.presses(label("support.staff_ticket.close"))
    question = await case.in_topic(like("support.staff.closing", ticket=case.reference))
    await case.rina.says("Because it is done", reply_to=question)
    question = await case.rina.sees(like("support.staff.closing", ticket=case.reference))
    await case.rina.taps(label("support.staff.close.solved"), message=question)
    await case.in_topic(
        like("support.staff.closed", ticket=case.reference, reason=text("support.staff_ticket.reason.solved"))
    )
    await case.answers("One more thing")
    refusal = await case.in_topic(refused("support.ticket.closed"))
    assert await case.got() == []
    await case.rina.taps(label("support.staff_ticket.reopen"), message=refusal)
    await case.answers("One more thing")
    await case.user.sees("One more thing")


async def test_their_words_and_pictures_come_back_into_the_topic_and_ring_for_who_holds_it(
    in_group: OpenTicket,
) -> None:
    await in_group.answers("What does your bank say?")
    got = await in_group.user.sees("What does your bank say")
    sent = await in_group.user.says("Nothing at al", reply_to=got)
    told = await in_group.in_topic("Nothing at al")
    assert [entity["user"]["id"] for entity in told["entities"] if entity["type"] == "text_mention"] == [3001]
    await in_group.user.edits(sent, "Nothing at all")
    await in_group.in_topic(f"{like('support.staff_ticket.changed')}(.|\n)*Nothing at all")
    await in_group.user.sends_photo(PICTURE, "See here", reply_to=got)
    assert "photo" in await in_group.in_topic("See here")
    await in_group.answers("Thank you, we ask them", to=told)
    await in_group.user.sees("Thank you, we ask them")

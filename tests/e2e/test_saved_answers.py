"""Answers that support keeps: written in private, in both languages, and sent as they were looked at, once."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.people import Newcomer, all_is_told, newcomer
from tests.e2e.talks import Case, a_case
from tests.e2e.trouble import calls_of, held, killed_and_restarted
from tests.e2e.world import Chatter, Json, World, words_of, world
from tests.texts import says

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def quiet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Two supporters without a group: each works in private."""
    async with world(tmp_path_factory.mktemp("saved"), SUPPORT_IDS="3001,2001", SUPPORT_CHAT_ID="0") as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
            await staff.says("/start")
        yield made


async def writes(rina: Chatter, name: str, *, en: str, id_: str) -> Json:
    """Keep a new answer; the page that shows it."""
    await rina.says("/answers")
    await rina.taps("New answer")
    await rina.sees("What is the new answer called")
    await rina.says(name)
    for _ in range(2):
        asked = await rina.sees("what does it say in")
        await rina.says(id_ if "Indonesian" in words_of(asked) else en)
    return await rina.sees(f"^{name}\n")


async def picks(case: Case, name: str) -> Json:
    """From the card to the preview."""
    await case.presses("Saved answers")
    await case.rina.sees(f"{case.reference}: which answer")
    await case.rina.taps(name)
    return await case.rina.sees("Its person would read")


async def test_an_answer_is_written_in_both_languages_changed_and_deleted(quiet: World) -> None:
    rina = quiet.rina
    page = await writes(rina, "late", en="Sorry for {reference}", id_="Maaf soal {reference}")
    assert "Sorry for {reference}" in words_of(page)
    assert "Maaf soal {reference}" in words_of(page)
    await rina.taps("Change English", message=page)
    await rina.says("{number} and {holder}")
    await rina.sees(r"There is no variable \{number\}. The variables are \{reference\}, ")
    await rina.sends(sticker=True)
    await rina.sees("Please send text")
    await rina.sends(html="So <b>sorry</b> for {Reference}")
    page = await rina.sees("So sorry for {reference}")
    assert "bold" in {entity["type"] for entity in page["entities"]}
    await rina.says("/answers")
    await rina.taps("New answer")
    await rina.says("Late")
    await rina.sees("There is an answer “late” already")
    await rina.says("!")
    await rina.sees("A name has 2 to 20 letters and digits")
    await rina.says("/answers")
    await rina.taps("late")
    await rina.taps("Delete")
    await rina.sees("Delete the answer “late”")
    await rina.taps("Delete")
    await rina.sees("There are none yet")


async def test_it_is_sent_in_the_persons_language_with_the_recipient_masked_and_only_once(quiet: World) -> None:
    await writes(quiet.rina, "hold-on", en="English {amount}", id_="Sabar ya: {amount} ke {destination}, {ticket}")
    case = await a_case(quiet, "id", group=None)
    await case.person.says("/start")
    preview = await picks(case, "hold-on")
    assert f"Sabar ya: Rp500.000 ke BCA ••••7890, {case.reference}" in words_of(preview)
    assert await case.got() == [], "nothing is sent by looking at it"
    send = next(b for row in preview["reply_markup"]["inline_keyboard"] for b in row if b["text"] == "Send it")
    await case.rina.presses(preview, send["callback_data"])
    await case.person.sees("Sabar ya: Rp500.000 ke BCA ••••7890")
    await case.rina.sees_reaction(preview, "👌")
    again = await case.rina.presses(preview, send["callback_data"], force=True)
    assert "sent already" in again["text"]
    assert len(await case.got()) == 1
    await case.is_claimed_by(case.rina)
    refused = await case.oscar.presses(await case.oscar.sees("Kirim", anywhere=True), send["callback_data"], force=True)
    assert "Somebody else has claimed" in refused["text"]


async def test_what_has_changed_since_it_was_looked_at_is_looked_at_again(quiet: World) -> None:
    page = await writes(quiet.rina, "soon", en="Soon", id_="Sebentar")
    case = await a_case(quiet, group=None)
    preview = await picks(case, "soon")
    await case.rina.taps("Change English", message=page)
    await case.rina.says("Tomorrow")
    await case.rina.sees("Tomorrow")
    toast = await case.rina.taps("Send it", message=preview)
    assert "reads differently by now" in toast["text"]
    assert await case.got() == []
    await case.rina.taps("Send it", message=await case.rina.sees("would read(.|\n)*Tomorrow", anywhere=True))
    await case.person.sees("Tomorrow")


async def test_an_answer_about_an_order_isnt_sent_where_there_is_none(quiet: World) -> None:
    await writes(quiet.rina, "which", en="About {reference}", id_="Soal {reference}")
    person = await newcomer(quiet)
    await person.says("/help")
    await person.taps("Write to us")
    await person.says("How long does it take?")
    head = await quiet.rina.sees(f"Person: {person.id}", anywhere=True)
    await quiet.rina.taps("Saved answers", message=head)
    await quiet.rina.sees("which answer")
    toast = await quiet.rina.taps("which")
    assert "this ticket is about none" in toast["text"]


@pytest.mark.parametrize(
    ("killed", "repeated"),
    [("before it is sent", [True]), ("before that is recorded", [False, True]), ("after that is recorded", [False])],
)
async def test_killed_behind_the_word_to_send_it_arrives_once_or_says_that_it_is_repeated(
    quiet: World, killed: str, repeated: list[bool]
) -> None:
    name = killed.replace(" ", "-")[:20].rstrip("-")
    await writes(quiet.rina, name, en="Just once", id_="Sekali saja")
    case = await a_case(quiet, group=None)
    preview = await picks(case, name)
    async with AsyncExitStack() as calls:
        await calls.enter_async_context(held(calls_of(quiet, "editMessageText"), quiet.rina))
        if killed.startswith("before"):
            fault = "delay" if killed.endswith("sent") else "delay_after"
            await calls.enter_async_context(held(calls_of(quiet, "sendMessage"), case.person, fault))
        await case.rina.taps("Send it", message=preview, wait=0)
    if killed.startswith("after"):
        await case.person.sees("Just once", anywhere=True)
        await all_is_told(quiet, case.person)
    await killed_and_restarted(quiet)
    await case.rina.sees_reaction(preview, "👌")
    assert [says(copy, "news.again") for copy in await case.got()] == repeated


async def test_nobody_but_support_reads_or_changes_them(quiet: World) -> None:
    page = await writes(quiet.rina, "secret", en="For staff alone", id_="Untuk staf saja")
    emma = await newcomer(quiet)
    await emma.says("/answers")
    await emma.sees("I don't know that command")
    await emma.says("/start")
    under = await emma.sees("Kirim")
    for button in ("list", "show:secret", "add", "text:secret:en", "ask:secret", "del:secret", "list:T-22222"):
        refused = await emma.presses(under, f"sa:{button}", force=True)
        assert "Only Kirim's support" in refused["text"]
    assert await emma.count("staff alone|Saved answers") == 0
    await quiet.rina.taps("Change English", message=page)
    await quiet.kill_bot()
    await quiet.start_bot(SUPPORT_IDS="2001")
    await quiet.rina.says("Now I say what I like")
    await quiet.rina.sees("Kirim sends rupiah from this chat")
    refused = await quiet.rina.presses(page, "sa:del:secret", force=True)
    assert "Only Kirim's support" in refused["text"]
    await quiet.stop_bot()
    await quiet.start_bot(SUPPORT_IDS="3001,2001")
    await quiet.rina.says("/answers")
    await quiet.rina.taps("secret")
    await quiet.rina.sees("For staff alone")


async def test_in_the_group_they_are_used_and_not_changed(kirim_with_a_group: tuple[World, Newcomer]) -> None:
    kirim, rina = kirim_with_a_group
    page = await writes(rina, "thanks", en="Thank you", id_="Terima kasih")
    group = Chatter(kirim.telegram, rina.id, SUPPORT_GROUP_ID)
    await group.says("/answers")
    listed = await group.sees("Saved answers: thanks")
    assert "Thank you" not in words_of(listed)
    for button in ("list", "show:thanks", "add", "text:thanks:en", "ask:thanks", "del:thanks"):
        assert "isn't there" in (await group.presses(listed, f"sa:{button}", force=True))["text"]
    assert "Thank you" in words_of((await rina.finds(page)) or {})
    case = await a_case(kirim)
    await case.presses("Saved answers")
    choosing = await case.in_topic("which answer")
    await case.rina.taps("thanks", message=choosing)
    await case.in_topic("Its person would read")
    await case.rina.taps("Send it")
    await case.person.sees("Thank you")


@pytest_asyncio.fixture(loop_scope="module")
async def kirim_with_a_group(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[World, Newcomer]]:
    async with world(tmp_path_factory.mktemp("group"), SUPPORT_IDS="3001,2001", DEFAULT_LOCALE="en") as made:
        rina = Newcomer(made.telegram, made.rina.id)
        await rina.speaks("en")
        yield made, rina

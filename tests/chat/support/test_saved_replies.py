"""Saved replies are written in private, in both languages, and sent once, exactly as previewed."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.chat.system import running_in_process
from tests.e2e.chat_user import text_of
from tests.e2e.support.saved_replies import add_saved_reply, list_saved_replies, preview_reply
from tests.e2e.support.tickets import open_ticket
from tests.e2e.system import System
from tests.texts import label, like, name_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def without_group(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """Start a bot with two agents and no group. Each works in private."""
    async with running_in_process(
        tmp_path_factory.mktemp("saved"), SUPPORT_IDS="3001,2001", SUPPORT_CHAT_ID="0"
    ) as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
            await staff.says("/start")
        yield made


async def test_an_answer_is_written_in_both_languages_changed_and_deleted(without_group: System) -> None:
    rina = without_group.rina
    page = await add_saved_reply(rina, "late", en="Sorry for {reference}", id_="Maaf soal {reference}")
    assert "Sorry for {reference}" in text_of(page)
    assert "Maaf soal {reference}" in text_of(page)
    await rina.taps(label("support.saved_reply.change", language=name_of("en")), message=page)
    await rina.says("{number} and {holder}")
    await rina.sees(like("core.template.unknown_variable", name="{number}", known=re.compile(r"\{reference\}, .*")))
    await rina.sends(sticker=True)
    await rina.sees(like("support.saved_reply.only_text"))
    await rina.sends(html="So <b>sorry</b> for {Reference}")
    page = await rina.sees("So sorry for {reference}")
    assert "bold" in {entity["type"] for entity in page["entities"]}
    await rina.taps(label("support.saved_reply.add"), message=await list_saved_replies(rina))
    await rina.says("Late")
    await rina.sees(like("support.saved_reply.exists", name="late"))
    await rina.says("!")
    await rina.sees(like("support.saved_reply.name"))
    await rina.taps("late", message=await list_saved_replies(rina))
    page = await rina.sees("^late\n")
    await rina.taps(label("support.saved_reply.delete"), message=page)
    question = await rina.sees(like("support.saved_reply.sure", name="late"))
    await rina.taps(label("support.saved_reply.delete"), message=question)
    listed = await rina.sees(like("support.saved_reply.list"))
    assert listed["message_id"] == page["message_id"]
    assert "late" not in await rina.buttons()


async def test_it_is_sent_in_the_users_language_with_the_recipient_masked_and_only_once(without_group: System) -> None:
    await add_saved_reply(
        without_group.rina, "hold-on", en="English {amount}", id_="Sabar ya: {amount} ke {destination}, {ticket}"
    )
    case = await open_ticket(without_group, "id", group=None)
    await case.user.says("/start")
    preview = await preview_reply(case, "hold-on")
    assert f"Sabar ya: Rp500.000 ke BCA ••••7890, {case.reference}" in text_of(preview)
    assert await case.got() == [], "nothing is sent by looking at it"
    send = next(
        b
        for row in preview["reply_markup"]["inline_keyboard"]
        for b in row
        if b["text"] == label("support.saved_reply.send")
    )
    await case.rina.presses(preview, send["callback_data"])
    await case.user.sees("Sabar ya: Rp500.000 ke BCA ••••7890")
    await case.rina.sees_reaction(preview, "👌")
    again = await case.rina.presses(preview, send["callback_data"], force=True)
    assert again["text"] == label("support.saved_reply.sent_already")
    assert len(await case.got()) == 1
    await case.is_claimed_by(case.rina)
    under = await case.oscar.sees(like("home.start.staff"), anywhere=True)
    refused = await case.oscar.presses(under, send["callback_data"], force=True)
    assert refused["text"] == label("support.ticket.held_by_another")


async def test_what_has_changed_since_it_was_looked_at_is_looked_at_again(without_group: System) -> None:
    page = await add_saved_reply(without_group.rina, "soon", en="Soon", id_="Sebentar")
    case = await open_ticket(without_group, group=None)
    preview = await preview_reply(case, "soon")
    await case.rina.taps(label("support.saved_reply.change", language=name_of("en")), message=page)
    await case.rina.says("Tomorrow")
    await case.rina.sees("Tomorrow")
    toast = await case.rina.taps(label("support.saved_reply.send"), message=preview)
    assert toast["text"] == label("support.saved_reply.changed")
    assert await case.got() == []
    await case.rina.taps(
        label("support.saved_reply.send"),
        message=await case.rina.sees(f"{like('support.saved_reply.preview')}(.|\n)*Tomorrow", anywhere=True),
    )
    await case.user.sees("Tomorrow")

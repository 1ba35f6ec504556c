"""An agent sees a full recipient in private, with a reason, for a minute, and can't forward it."""

import re
from functools import partial

import pytest

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.chat.access import last_event, shown_since
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.support.reveals import MASKED, NUMBER, an_order, audit_rows, end_minute, is_not_shown, message_to_press
from tests.e2e.system import System
from tests.texts import label, like
from tests.waiting import until

session_loop = pytest.mark.asyncio(loop_scope="session")


def reason_question(reference: str, locale: str = "en") -> str:
    """Return a pattern for the question for the reason."""
    return like("support.reveal.ask", locale, line=re.compile(f".*{reference}.*"))


async def reveal(rina: ChatUser, reference: str, reason: str = label("support.reveal.reason_trace")) -> Json:
    """Press the button, give the reason, and return the message with the recipient."""
    await rina.presses(await message_to_press(rina), f"rv:{reference}:ask", force=True)
    await rina.taps(reason, message=await rina.sees(reason_question(reference)))
    return await rina.sees(like("support.reveal.shown", number=NUMBER))


async def has_no_question(user: ChatUser, reference: str) -> bool:
    """Return whether the question about this order is gone."""
    return await user.count(reason_question(reference)) == 0


@session_loop
async def test_the_recipient_is_seen_with_a_reason_and_is_masked_in_the_same_message(shared_system: System) -> None:
    _, reference = await an_order(shared_system)
    shown = await reveal(shared_system.rina, reference)
    assert MASKED in text_of(shown)
    await until(partial(has_no_question, shared_system.rina, reference), what="the question's end")
    await end_minute(shared_system)
    masked = await shared_system.rina.sees(like("support.reveal.masked"))
    assert masked["message_id"] == shown["message_id"]
    assert await is_not_shown(shared_system.rina)
    ((actor, detail),) = audit_rows(shared_system, reference)
    assert actor == shared_system.rina.id
    assert "trace" not in detail
    await shared_system.rina.taps(label("support.reveal.again"), message=masked)
    await shared_system.rina.sees(like("support.reveal.ask"))


@session_loop
async def test_what_is_shown_cant_be_forwarded_and_was_never_sent_unmasked(shared_system: System) -> None:
    _, reference = await an_order(shared_system)
    before = await last_event(shared_system)
    shown = await reveal(shared_system.rina, reference)
    assert shown["has_protected_content"]
    group = ChatUser(shared_system.telegram, shared_system.rina.id, SUPPORT_GROUP_ID)
    answer = await shared_system.telegram.post(
        f"/sandbox/chats/{SUPPORT_GROUP_ID}/send",
        json={
            "from": shared_system.rina.id,
            "forward": {"chat_id": shared_system.rina.id, "message_id": shown["message_id"]},
        },
    )
    assert answer.status_code == 404
    assert await is_not_shown(group)
    messages = await shown_since(shared_system, before, [shared_system.rina.id])
    unmasked = [each for each in messages if each["from"]["is_bot"] and NUMBER in text_of(each)]
    assert unmasked, "it was shown"
    assert all("edit_date" in each for each in unmasked), "by an edit, of which no notification tells"
    await shared_system.rina.taps(label("support.reveal.hide"), message=shown)
    await shared_system.rina.sees(like("support.reveal.masked"))
    assert await is_not_shown(shared_system.rina)


@session_loop
async def test_asked_for_in_the_group_it_is_shown_in_private_alone(shared_system: System) -> None:
    _, reference = await an_order(shared_system)
    await message_to_press(shared_system.rina)
    group = ChatUser(shared_system.telegram, shared_system.rina.id, SUPPORT_GROUP_ID)
    under = await group.says("look at this one")
    for action in ("for:trace", "type", "hide:0123456789abcdef"):
        pressed = await group.presses(under, f"rv:{reference}:{action}", force=True)
        assert pressed["text"] == label("support.staff.gone")
    asked = await group.presses(under, f"rv:{reference}:ask", force=True)
    assert asked["text"] == label("support.reveal.look_in_private")
    asking = await shared_system.rina.sees(reason_question(reference))
    await shared_system.rina.taps(label("support.reveal.reason_wrong"), message=asking)
    await shared_system.rina.sees(like("support.reveal.shown", number=NUMBER))
    assert await is_not_shown(group)
    await end_minute(shared_system)
    await until(partial(is_not_shown, shared_system.rina), what="the mask")


@session_loop
async def test_nobody_else_is_shown_it_by_any_button(shared_system: System) -> None:
    emma, reference = await an_order(shared_system)
    stranger = await new_user(shared_system)
    for user in (emma, stranger, shared_system.oscar):
        under = await message_to_press(user)
        before = len(await user.messages())
        for action in ("ask", "for:trace", "type", "hide:0123456789abcdef"):
            refused = await user.presses(under, f"rv:{reference}:{action}", force=True)
            assert refused["text"] == label("support.staff.not_yours")
        assert len(await user.messages()) == before
    assert await is_not_shown(shared_system.oscar)
    assert audit_rows(shared_system, reference) == []


async def test_a_former_supporter_is_shown_nothing_and_loses_what_they_see(kirim: System) -> None:
    _, reference = await an_order(kirim)
    shown = await reveal(kirim.rina, reference)
    await kirim.rina.presses(shown, f"rv:{reference}:type", force=True)
    await kirim.rina.sees(like("support.reveal.type"))
    await kirim.kill_bot()
    await kirim.start_bot(SUPPORT_IDS="3999")
    await until(partial(is_not_shown, kirim.rina), what="the mask")
    await kirim.rina.says("the bank asks for it")
    await kirim.rina.sees(like("home.start.text"))
    for message in await kirim.rina.messages():
        for action in ("ask", "for:trace", "type"):
            await kirim.rina.presses(message, f"rv:{reference}:{action}", force=True)
    assert await is_not_shown(kirim.rina)
    assert len(audit_rows(kirim, reference)) == 1

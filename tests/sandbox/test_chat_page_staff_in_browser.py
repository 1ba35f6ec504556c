"""Actions of staff on the chat page, in a real Chromium: topics, replies, files, edits, reactions, forwarding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.async_api import expect

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.sandbox.telegram_sandbox import EMMA, OSCAR, RINA

if TYPE_CHECKING:
    from playwright.async_api import Locator
    from telegram import Message

    from tests.sandbox.chat_page import ChatPage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def group_of(chat: ChatPage) -> Locator:
    await chat.page.get_by_test_id(f"show-{SUPPORT_GROUP_ID}").click()
    return chat.page.get_by_test_id(f"pane-{SUPPORT_GROUP_ID}")


async def says(place: Locator, text: str) -> None:
    await place.get_by_test_id("composer").fill(text)
    await place.get_by_test_id("send").click()


async def does(chat: ChatPage, message: Locator, what: str) -> None:
    """Choose an action for a message."""
    await message.hover()
    await message.get_by_test_id("act-more").click()
    await chosen(chat, what).click()


def chosen(chat: ChatPage, name: str | int) -> Locator:
    """Return one of the shown choices."""
    return chat.page.get_by_test_id("choices").locator(f'[data-choice="{name}"]')


async def received(chat: ChatPage) -> list[Message]:
    """Return all messages that the bot gets, new and edited."""
    updates = await chat.bot.get_updates(timeout=0)
    return [message for update in updates if (message := update.message or update.edited_message)]


async def test_an_answer_in_a_topic_names_the_message_and_the_topic(chat: ChatPage) -> None:
    group = await group_of(chat)
    topic = (await chat.bot.create_forum_topic(SUPPORT_GROUP_ID, "T-4F7K2 · BCA Rp500,000")).message_thread_id
    head = await chat.bot.send_message(SUPPORT_GROUP_ID, "the case", message_thread_id=topic)
    await group.get_by_test_id("topic").filter(has_text="T-4F7K2").click()
    card = group.get_by_test_id("message").filter(has_text="the case")
    await card.hover()
    await card.get_by_test_id("act-reply").click()
    await says(group, "we look into it")
    await expect(group.get_by_test_id("message").last).to_contain_text("we look into it")
    answer = (await received(chat))[-1]
    assert answer.reply_to_message is not None
    assert (answer.reply_to_message.message_id, answer.message_thread_id) == (head.message_id, topic)
    assert answer.from_user is not None
    assert answer.from_user.id == RINA


async def test_who_writes_in_the_group_can_be_chosen_again_without_a_mouse(chat: ChatPage) -> None:
    group = await group_of(chat)
    speaker = group.get_by_test_id("group-speaker")
    for person in (OSCAR, RINA):
        await speaker.focus()
        await speaker.select_option(str(person))
        await expect(speaker).to_be_focused()
        await says(group, f"from {person}")
        await expect(group.get_by_test_id("message").last).to_contain_text(f"from {person}")
    assert [message.from_user and message.from_user.id for message in await received(chat)] == [OSCAR, RINA]


async def test_topics_stand_newest_first_are_renamed_and_show_that_they_are_closed(chat: ChatPage) -> None:
    group = await group_of(chat)
    first = (await chat.bot.create_forum_topic(SUPPORT_GROUP_ID, "first")).message_thread_id
    await chat.bot.create_forum_topic(SUPPORT_GROUP_ID, "second")
    topics = group.get_by_test_id("topic")
    await expect(topics).to_have_text(["General", "second", "first"])
    await chat.bot.send_message(SUPPORT_GROUP_ID, "news", message_thread_id=first)
    await expect(topics).to_have_text(["General", "first", "second"])
    await chat.bot.edit_forum_topic(SUPPORT_GROUP_ID, first, name="done")
    await chat.bot.close_forum_topic(SUPPORT_GROUP_ID, first)
    await expect(topics.nth(1)).to_have_text("done")
    await expect(topics.nth(1).locator(".lock")).to_have_count(1)
    await expect(topics.nth(1).locator(".dot")).to_have_count(1)
    await chat.bot.delete_forum_topic(SUPPORT_GROUP_ID, first)
    await expect(topics).to_have_text(["General", "second"])


async def test_one_corrects_and_takes_back_ones_own_words_only(chat: ChatPage) -> None:
    await chat.emma_says_hello()
    await says(chat.emma, "my slip")
    mine = chat.emma.get_by_test_id("message").filter(has_text="my slip")
    await does(chat, mine, "edit")
    await expect(chat.emma.get_by_test_id("composer")).to_have_value("my slip")
    await says(chat.emma, "my __slip__, corrected")
    edited = chat.emma.get_by_test_id("message").last
    await expect(edited.locator(".edited")).to_be_visible()
    await expect(edited.locator("em")).to_have_text("slip")
    await expect(chat.emma.get_by_test_id("composer")).to_have_value("")
    await does(chat, edited, "delete")
    await expect(chat.emma.get_by_test_id("message")).to_have_count(1)
    assert [message.text for message in await received(chat)] == ["/start", "my slip", "my slip, corrected"]
    await chat.bot.send_message(EMMA, "the bot's")
    theirs = chat.emma.get_by_test_id("message").last
    await theirs.hover()
    await theirs.get_by_test_id("act-more").click()
    await expect(chat.page.get_by_test_id("choice")).to_have_count(2)
    for offered in ("reply", "forward"):
        await expect(chosen(chat, offered)).to_be_visible()


async def test_a_file_goes_as_it_is_and_a_picture_as_a_picture(chat: ChatPage) -> None:
    await chat.emma_says_hello()
    files = chat.emma.get_by_test_id("picture")
    await chat.emma.get_by_test_id("composer").fill("my bank says")
    await files.set_input_files({"name": "slip.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4"})
    await expect(chat.emma.get_by_test_id("message").last).to_contain_text("slip.pdf")
    sent = (await received(chat))[-1]
    assert sent.document is not None
    assert (sent.document.file_name, sent.document.mime_type, sent.caption) == (
        "slip.pdf",
        "application/pdf",
        "my bank says",
    )


async def test_a_message_is_forwarded_from_the_room_to_the_bot_with_its_writers_name(chat: ChatPage) -> None:
    group = await group_of(chat)
    await says(group, "who is this")
    message = group.get_by_test_id("message").last
    await expect(message).to_contain_text("who is this")
    await does(chat, message, "forward")
    await chosen(chat, RINA).click()
    await chat.page.get_by_test_id(f"show-{RINA}").click()
    rina = chat.page.get_by_test_id(f"pane-{RINA}")
    await expect(rina.get_by_test_id("forwarded").locator("strong")).to_have_text("Rina")
    forwarded = (await received(chat))[-1]
    assert (forwarded.chat_id, forwarded.text) == (RINA, "who is this")
    assert forwarded.forward_origin is not None

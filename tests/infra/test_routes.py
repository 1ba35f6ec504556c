"""Commands: which text is one, and for whom."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest
from telegram import Bot, Chat, Message, MessageEntity, Update

from bot.infra.telegram.ui.routes import Command, read_command


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/rate", Command("rate", "")),
        ("/Rate@Kirim_Bot  now and\nthen", Command("rate", "now and\nthen")),
        ("/rate@another_bot", None),
        ("what is /rate", None),
    ],
)
def test_a_command_is_for_this_bot_and_begins_the_message(text: str, command: Command | None) -> None:
    where = text.index("/")
    entity = MessageEntity(MessageEntity.BOT_COMMAND, where, len(text[where:].split(maxsplit=1)[0]))
    message = Message(1, datetime.now(UTC), Chat(-5, Chat.SUPERGROUP), text=text, entities=[entity])
    message.set_bot(cast("Bot", SimpleNamespace(username="kirim_bot")))
    assert read_command(Update(1, message=message)) == command
    assert read_command(Update(1, edited_message=message)) is None

"""Tests that forwarded messages don't begin an order."""

from types import SimpleNamespace
from typing import Any

import pytest
from telegram import Update

from bot.checkout.conversation import Conversation
from bot.checkout.open_draft import DRAFT

LINE = "500rb bca 1234567890 Budi"
ORIGIN = {"type": "hidden_user", "sender_user_name": "Somebody", "date": 1_790_000_000}


def written(text: str, **more: Any) -> Update:
    user = {"id": 1, "is_bot": False, "first_name": "Emma"}
    chat = {"id": 1, "type": "private"}
    message = {"message_id": 7, "date": 1_790_000_000, "chat": chat, "from": user, "text": text, **more}
    update = Update.de_json({"update_id": 3, "message": message}, None)
    assert update is not None
    return update


@pytest.mark.parametrize(
    ("text", "more", "draft", "begins"),
    [
        (LINE, {}, None, True),
        (LINE, {"forward_origin": ORIGIN}, None, False),
        (LINE, {}, "a draft that is open", False),
        (f"/nonsense {LINE}", {}, None, False),
    ],
)
async def test_only_what_a_user_writes_themselves_outside_a_draft_may_begin_one(
    text: str, more: dict[str, Any], draft: str | None, *, begins: bool
) -> None:
    async def always(*_: object) -> bool:
        return True

    none: Any = None
    one_line: Any = SimpleNamespace(is_order=always)
    conversation = Conversation(
        drafts=none, draft_handlers=none, one_line=one_line, contacts=none, status_questions=none
    )
    session: Any = {DRAFT: draft}
    assert await conversation._is_order(session, written(text, **more), text) is begins

"""Tests that forwarded messages don't begin an order."""

from types import SimpleNamespace
from typing import Any

import pytest
from telegram import Update

from bot.checkout.conversation import Conversation
from bot.checkout.draft import OrderDraft
from bot.checkout.open_draft import DRAFT
from tests.checkout.builders import a_draft

LINE = "500rb bca 1234567890 Budi"
ORIGIN = {"type": "hidden_user", "sender_user_name": "Somebody", "date": 1_790_000_000}


def written(text: str, **more: Any) -> Update:
    user = {"id": 1, "is_bot": False, "first_name": "Emma"}
    chat = {"id": 1, "type": "private"}
    message = {"message_id": 7, "date": 1_790_000_000, "chat": chat, "from": user, "text": text, **more}
    update = Update.de_json({"update_id": 3, "message": message}, None)
    assert update is not None
    return update


class FakeSession(dict[Any, Any]):
    """The session of an update that an earlier attempt has saved in the draft, if one is open."""

    update_id, handled_by = 3, None


@pytest.mark.parametrize(
    ("text", "more", "draft", "begins"),
    [
        (LINE, {}, None, True),
        (LINE, {"forward_origin": ORIGIN}, None, False),
        (LINE, {}, a_draft(last_update_id=3), False),
        (f"/nonsense {LINE}", {}, None, False),
    ],
)
async def test_only_what_a_user_writes_themselves_outside_a_draft_may_begin_one(
    text: str, more: dict[str, Any], draft: OrderDraft | None, *, begins: bool
) -> None:
    begun = list[str]()

    async def always(*_: object, **__: object) -> bool:
        return True

    async def begin(_: object, line: str) -> None:
        begun.append(line)

    none: Any = None
    one_line: Any = SimpleNamespace(is_order=always, begin=begin)
    asked: Any = SimpleNamespace(show=always)
    conversation = Conversation(drafts=none, draft_handlers=asked, one_line=one_line, status_answers=none)
    session: Any = FakeSession({DRAFT: draft})
    is_taken = await conversation.build().take(session, written(text, **more))
    assert is_taken is (begins or draft is not None)
    assert begun == [text] * begins

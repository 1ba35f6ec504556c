"""What follows a typed answer takes the place of its question, and a user who typed always sees an answer."""

from typing import Any, cast

import pytest

from bot.core.backoff import Backoff
from bot.infra.telegram.inbound.model import ChatState
from bot.infra.telegram.outbound.sender import Delivered, Gone, NotModified, Outcome, TryLater
from bot.infra.telegram.ui.screen import Button, Screen
from bot.users.session import Session
from tests.infra.builders import an_infra
from tests.settlement.fake_settlement import MovedClock
from tests.texts import TRANSLATIONS
from tests.users.builders import EMMA, a_user

NEXT = Screen("the next question", ((Button("Back", data="back"),),))
QUESTION = 7


class Telegram:
    """A fake messenger with the outcomes of the next edits."""

    def __init__(self, *edits: Outcome) -> None:
        self.edits = list(edits)
        self.sent: list[str] = []
        self.without_buttons: list[int] = []

    async def edit_text(self, *_: Any, **__: Any) -> Outcome:
        return self.edits.pop(0)

    async def send_text(self, _: int, html: str, *__: Any, **___: Any) -> Outcome:
        self.sent.append(html)
        return Delivered(8)

    async def edit_keyboard(self, _: int, message_id: int, *__: Any, **___: Any) -> Outcome:
        self.without_buttons.append(message_id)
        return Delivered()


@pytest.mark.parametrize(
    ("edits", "sent"),
    [
        ([Delivered(QUESTION)], []),
        ([NotModified()], [NEXT.text]),
        ([Gone()], [NEXT.text]),
        ([TryLater(0, maybe_sent=True), NotModified()], []),
        ([TryLater(0, maybe_sent=True), Delivered(QUESTION)], []),
    ],
)
async def test_a_question_is_replaced_or_asked_in_a_new_message(
    monkeypatch: pytest.MonkeyPatch, edits: list[Outcome], sent: list[str]
) -> None:
    monkeypatch.setattr("bot.users.session.RETRY_PAUSES", Backoff(first=0.0))
    telegram = Telegram(*edits)
    session = Session(
        infra=an_infra(cast("Any", None), MovedClock(), telegram),
        user=a_user(EMMA),
        t=TRANSLATIONS.get("en"),
        update_id=3,
        chat=ChatState(user_id=EMMA, question_message_id=QUESTION),
    )
    await session.show(NEXT, in_question=True)
    assert telegram.sent == sent
    assert telegram.edits == []
    assert session.chat.question_message_id == (8 if sent else QUESTION)
    assert telegram.without_buttons == ([QUESTION] if sent else [])

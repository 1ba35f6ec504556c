"""A question is the last thing in the chat: it stands below what was typed, and the one before it goes."""

from typing import Any, cast

import pytest

from bot.infra.telegram.inbound.model import ChatState
from bot.infra.telegram.outbound.sender import Delivered, Gone, Outcome
from bot.infra.telegram.ui.screen import Button, Screen
from bot.users.session import Session
from tests.infra.builders import an_infra
from tests.settlement.fake_settlement import MovedClock
from tests.texts import TRANSLATIONS, text
from tests.users.builders import EMMA, a_user

NEXT = Screen("the next question", ((Button("Back", data="back"),),))
BEFORE, BELOW = 7, 8


class Telegram:
    """A fake messenger that notes what becomes of messages."""

    def __init__(self, deleting: Outcome, sending: Outcome | None = None) -> None:
        self.deleting, self.sending = deleting, sending or Delivered(BELOW)
        self.calls: list[tuple[str, int]] = []
        self.texts: dict[int, str] = {}

    async def edit_text(self, _: int, message_id: int, html: str, *__: Any, **___: Any) -> Outcome:
        self.texts[message_id] = html
        self.calls.append(("edit", message_id))
        return Delivered(message_id)

    async def send_text(self, *_: Any, **__: Any) -> Outcome:
        self.calls.append(("send", BELOW))
        return self.sending

    async def delete(self, _: int, message_id: int, **__: Any) -> Outcome:
        self.calls.append(("delete", message_id))
        return self.deleting

    async def edit_keyboard(self, _: int, message_id: int, *__: Any, **___: Any) -> Outcome:
        self.calls.append(("remove buttons", message_id))
        return Delivered()


def a_session(telegram: Telegram, *, can_go: bool, pressed: int | None = None) -> Session:
    return Session(
        conversation=cast("Any", None),
        make_start=cast("Any", None),
        infra=an_infra(cast("Any", None), MovedClock(), telegram),
        user=a_user(EMMA),
        t=TRANSLATIONS.get("en"),
        update_id=3,
        chat=ChatState(user_id=EMMA, question_message_id=BEFORE, question_can_go=can_go),
        message_id=pressed,
    )


@pytest.mark.parametrize(
    ("can_go", "deleting", "expected"),
    [
        (True, Delivered(), [("send", BELOW), ("delete", BEFORE)]),
        # Telegram deletes no message that is older than 48 hours.
        (True, Gone(), [("send", BELOW), ("delete", BEFORE), ("edit", BEFORE), ("remove buttons", BEFORE)]),
        # A list, a warning or a message about money stays.
        (False, Delivered(), [("send", BELOW), ("remove buttons", BEFORE)]),
    ],
)
async def test_after_typed_text_the_next_question_stands_below_it(
    *, can_go: bool, deleting: Outcome, expected: list[tuple[str, int]]
) -> None:
    telegram = Telegram(deleting)
    session = a_session(telegram, can_go=can_go)
    await session.ask(NEXT)
    assert telegram.calls == expected
    assert (session.chat.question_message_id, session.chat.question_can_go) == (BELOW, True)


async def test_after_a_press_the_next_question_takes_the_place_of_the_one_before() -> None:
    telegram = Telegram(Delivered())
    session = a_session(telegram, can_go=True, pressed=BEFORE)
    await session.show(NEXT)
    assert telegram.calls == [("edit", BEFORE)]
    assert (session.chat.question_message_id, session.chat.question_can_go) == (BEFORE, False)


@pytest.mark.parametrize("screen", [NEXT, Screen("Confirmed.")])
async def test_what_stays_in_the_place_of_a_question_is_not_deleted(screen: Screen) -> None:
    telegram = Telegram(Delivered())
    session = a_session(telegram, can_go=True, pressed=BEFORE)
    await session.edit_message(screen)
    session.message_id = None
    await session.ask(NEXT)
    assert ("delete", BEFORE) not in telegram.calls


async def test_a_question_that_can_not_be_deleted_keeps_no_number() -> None:
    telegram = Telegram(Gone())
    await a_session(telegram, can_go=True).ask(NEXT)
    assert telegram.texts[BEFORE] == text("users.chat.replaced")

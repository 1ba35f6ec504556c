"""The steps of the conversation, and their interface: each shows its question and takes its answers.

A step is the class that asks its question and takes the answers, then the functions that build its screens, in one
file. These get the draft and other values, never a session or a service.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from bot.checkout.buttons import DraftAction
from bot.checkout.draft import OrderDraft
from bot.core.errors import Rejection
from bot.infra.telegram.ui.screen import Screen
from bot.users.session import Session

TakeAnswer = Callable[[Session, OrderDraft, str], Awaitable[OrderDraft | Screen]]
"""Takes typed text, or a button's argument. Returns the draft with it, or a question to ask first.

Raises `Rejection` if the answer isn't valid. Then the question is shown again with the reason.
"""


class OutOfDate(Rejection):
    """The pressed button no longer fits the draft. It is no answer."""

    def __init__(self) -> None:
        super().__init__("users.stale.button")


class StepHandler(Protocol):
    """Shows the question of a step, and takes its answers: typed text, and the buttons by their action.

    The methods may raise `Rejection` and `SettlementFailure`.
    """

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        ...

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the question."""
        ...

    async def take_typed(self, session: Session, draft: OrderDraft, text: str) -> OrderDraft | Screen:
        """Take what was typed."""
        ...

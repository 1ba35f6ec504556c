"""What a feature does for the features below it: the type of each such slot of `Feature` (`feature.py`).

The values in these calls belong to the features below, such as a session and an order, or to Telegram's library. So the
types here leave them open, and the feature that calls a hook names them.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol, TypeVar

from bot.infra.db.transaction import Transaction
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.inline import InlineAnswer, InlineQuery
from bot.infra.telegram.ui.screen import Button, Screen

SessionT = TypeVar("SessionT", contravariant=True)  # noqa: PLC0105
UserT = TypeVar("UserT", contravariant=True)  # noqa: PLC0105
FactsT = TypeVar("FactsT", covariant=True)  # noqa: PLC0105
SubjectT = TypeVar("SubjectT", contravariant=True)  # noqa: PLC0105
ProblemT = TypeVar("ProblemT", contravariant=True)  # noqa: PLC0105
ContextT = TypeVar("ContextT", contravariant=True)  # noqa: PLC0105


class LoadUpdate(Protocol[SessionT]):
    """Loads what the feature needs for an update into `session[KEY]`, in the transaction that reads the user."""

    async def __call__(self, tx: Transaction, session: SessionT, /) -> None:
        """Load it for this update."""


class AfterUpdate(Protocol[SessionT]):
    """Runs after an update was handled, in the chat's own queue."""

    async def __call__(self, session: SessionT, /) -> None:
        """Do it for this update."""


class OpenConversation(Protocol[SessionT]):
    """The conversation, for features that can be opened in the middle of it."""

    def add_resume_button(self, session: SessionT, screen: Screen) -> Screen:
        """Return the screen with a button back to the open question, if there is one."""

    async def explain(self, session: SessionT, key: str) -> None:
        """Answer a button that no longer works with the text of a key, and show the open question."""

    async def show_question(self, session: SessionT) -> bool:
        """Show the open question, and return whether there is one."""

    def is_open(self, session: SessionT) -> bool:
        """Return whether a question is open."""

    async def report_damage(self, session: SessionT) -> None:
        """Say that the open draft can't be read, and close it."""


class ReadWelcomeFacts(Protocol[FactsT]):
    """Reads what the welcome says beyond what Kirim is."""

    async def __call__(self, t: Translator, /) -> FactsT:
        """Return the facts in the user's language."""


class SettingsPart(Protocol[UserT]):
    """A section of the settings."""

    @property
    def position(self) -> int:
        """The place of its button. The lowest comes first."""

    @property
    def label(self) -> str:
        """The key of the button's text."""

    @property
    def data(self) -> str:
        """The button's data."""

    def summary(self, t: Translator, user: UserT, /) -> Mapping[str, Any]:
        """Return its texts in `users.settings.text`: placeholder -> text."""


class ReadStaffPart(Protocol[SessionT]):
    """Reads a feature's part of a page for staff, such as their start."""

    async def __call__(self, session: SessionT, /) -> Screen | None:
        """Return the part, or None if the user isn't a member of staff whom it concerns."""


class OnZoneChanged(Protocol[UserT]):
    """Adapts what a feature has planned for a user, in the transaction that saves their new time zone."""

    async def __call__(self, tx: Transaction, user: UserT, /) -> None:
        """Adapt it to the user's new time zone."""


class OnBlocked(Protocol):
    """Ends subscriptions of a user, in the transaction that saves that they have blocked the bot."""

    async def __call__(self, tx: Transaction, user_id: int, now: datetime, /) -> None:
        """End what the user has subscribed to."""


class ButtonAction(Protocol[SessionT, SubjectT]):
    """Does what a button of a feature below does, with the session and what the button is about."""

    async def __call__(self, session: SessionT, subject: SubjectT, /) -> object:
        """Do it."""


class MakeButton(Protocol[SubjectT]):
    """Makes a button about a subject of a feature below."""

    def __call__(self, t: Translator, subject: SubjectT, /) -> Button:
        """Return the button in the user's language."""


class MakeStartButton(Protocol):
    """Makes a button of the welcome."""

    def __call__(self, t: Translator, /) -> Button:
        """Return the button in the user's language."""


class OrderListener(Protocol[SubjectT, ProblemT]):
    """Reacts to events of orders, in the transaction that changes the order.

    So the listener's own changes are saved together with the change of the order.
    """

    async def order_needs_staff(self, tx: Transaction, order: SubjectT, problem: ProblemT, now: datetime) -> None:
        """React to an order that needs the staff. Operators have been notified already."""

    async def order_changed(self, tx: Transaction, order: SubjectT, now: datetime) -> None:
        """React to any other change of an order's status."""


class DescribeTicket(Protocol[ContextT, SubjectT]):
    """Describes the open ticket about an order for the message about its problem, so that both are one message."""

    async def __call__(self, context: ContextT, order: SubjectT, /) -> Screen | None:
        """Return what the message says about the ticket, or None if there is none."""


class TakeIdleMessage(Protocol[SessionT, SubjectT]):
    """Takes a message that answers no question of the conversation."""

    async def __call__(self, session: SessionT, message: SubjectT, /) -> bool:
        """Take the message. Return False to leave it to others."""


class AnswerInlineQuery(Protocol):
    """Answers what a user types after the bot's name in any chat."""

    async def __call__(self, query: InlineQuery, /) -> InlineAnswer:
        """Return the results for this user. It writes nothing."""


class LoadAlarmSubject(Protocol[FactsT]):
    """Loads the subject that an alarm names."""

    async def __call__(self, tx: Transaction, subject: str, /) -> FactsT | None:
        """Return the subject, or None if it was deleted or can't be read."""

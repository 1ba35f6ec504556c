"""The buttons of support agents, and those of users about their own tickets and `/help`.

The card of a ticket has buttons of lookups, reveals and saved replies.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from bot.core.locales import LOCALES
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.callbacks import Callback, Pattern
from bot.infra.telegram.ui.screen import Button, Keyboard, Style

NAME: Final = Pattern("[a-z0-9-]{1,20}")
TICKET: Final = Pattern("T-[0-9A-Z]{5}")


def button(t: Translator, label: str, press: Callback, style: Style | None = None, **values: object) -> Button:
    """Return a button with the text of a key. `values` are the text's."""
    return Button(t.plain(label, **values), data=press.pack(), style=style)


def rows(*found: tuple[Button, ...]) -> Keyboard:
    """Return the rows that have buttons."""
    return tuple(filter(None, found))


class StaffTicketAction(StrEnum):
    """What a support agent's button does with a ticket."""

    CLAIM = "claim"
    TAKE_OVER = "over"
    CLOSE = "close"
    CLOSE_AS = "closeas"
    REOPEN = "reopen"
    SEND_AGAIN = "again"
    REFRESH = "fresh"
    SEND_UNDECIDED = "send"
    KEEP_UNDECIDED = "keep"
    ASK_OUTCOME = "ended"
    RECORD_OUTCOME = "endas"
    UNDO_OUTCOME = "unend"


@dataclass(frozen=True)
class StaffTicketButton(Callback, prefix="tk"):
    """A support agent's button about a ticket.

    `argument` is the reason for closing the ticket, the number of the reply to send again, the number of the newest
    message to decide about, or how its order ended.
    """

    ticket: Annotated[str, TICKET]
    action: StaffTicketAction
    argument: Annotated[str, Pattern("[a-z0-9_]{1,16}")] = ""


@dataclass(frozen=True)
class GroupLanguageButton(Callback, prefix="gl"):
    """A button that changes the language of the staff's group."""

    locale: Annotated[str, Pattern("|".join(LOCALES))]


class RevealAction(StrEnum):
    """What a button about a full recipient does."""

    ASK = "ask"
    FOR_REASON = "for"
    TYPE_REASON = "type"
    HIDE = "hide"


@dataclass(frozen=True)
class RevealButton(Callback, prefix="rv"):
    """A button about an order's full recipient. `argument` is the reason, or the id of the reveal to hide.

    `order` is our reference, or the service's id after an "@". To hide a reveal its own id is enough, so the service's
    id is left out.
    """

    order: Annotated[str, Pattern("[0-9A-Z]{4,16}|@[0-9A-Za-z_-]{0,48}")]
    action: RevealAction
    argument: Annotated[str, Pattern("[a-z0-9]{1,16}")] = ""


class SavedReplyAction(StrEnum):
    """What a button of the list of saved replies does."""

    LIST = "list"
    SHOW = "show"
    ADD = "add"
    ASK_TO_DELETE = "ask"
    DELETE = "del"


@dataclass(frozen=True)
class SavedReplyButton(Callback, prefix="sa"):
    """A button of the list. `name` is the saved reply's, if the button is about one."""

    action: SavedReplyAction
    name: Annotated[str, NAME] = ""


@dataclass(frozen=True)
class WriteSavedReplyButton(Callback, prefix="sa:text"):
    """A button that asks for the text of a saved reply in one language."""

    name: Annotated[str, NAME]
    locale: Annotated[str, Pattern("|".join(LOCALES))]


class ReplyChoiceAction(StrEnum):
    """What a button does that chooses a saved reply for a ticket."""

    LIST = "list"  # in a new message
    LIST_AGAIN = "back"  # in place of the preview
    PREVIEW = "pick"
    SEND = "send"


@dataclass(frozen=True)
class ReplyChoiceButton(Callback, prefix="sr"):
    """A button that chooses a saved reply for a ticket. `text_hash` is of the previewed text, to send only that."""

    ticket: Annotated[str, TICKET]
    action: ReplyChoiceAction
    name: Annotated[str, NAME] = ""
    text_hash: Annotated[str, Pattern("[0-9a-f]{8}")] = ""


class NextAction(StrEnum):
    """What a button does with the ticket that an agent works on (`/next`)."""

    NEXT = "next"
    SHOW = "show"
    SEND = "send"
    SEND_AND_CLOSE = "close"
    WAIT_FOR_ORDER = "order"
    ASK_UNTIL_WHEN = "when"
    WAIT_UNTIL = "until"


@dataclass(frozen=True)
class NextButton(Callback, prefix="nx"):
    """A button under the ticket that an agent works on.

    `argument` is the name of the saved reply, or a time in seconds since 1970. `seen` is the hash of what was shown, to
    act only on that.
    """

    action: NextAction
    ticket: Annotated[str, TICKET] = ""
    argument: Annotated[str, Pattern(f"(?:{NAME})?")] = ""
    seen: Annotated[str, Pattern("[0-9a-f]{8}")] = ""


class UserTicketAction(StrEnum):
    """What a user's button does with their ticket."""

    SHOW = "show"
    WRITE = "say"
    REOPEN = "reopen"
    RATE = "rate"
    FORWARD = "pass"


@dataclass(frozen=True)
class UserTicketButton(Callback, prefix="t"):
    """A user's button about their ticket. `argument` is the rating."""

    ticket: Annotated[str, TICKET]
    action: UserTicketAction
    argument: Annotated[str, Pattern("[a-z0-9]{1,16}")] = ""


@dataclass(frozen=True)
class NewTicketButton(Callback, prefix="t:new"):
    """The button to write to support about no order."""


@dataclass(frozen=True)
class LeaveTicketQuestionButton(Callback, prefix="t:leave"):
    """The button that cancels writing to support."""


class HelpPage(StrEnum):
    """A page of `/help`."""

    FIRST = "show"
    SENDERS = "senders"  # the first page of senders, for members of staff, whose own page is the first
    COST = "cost"
    TIME = "time"
    LIGHTNING = "lightning"
    TROUBLE = "trouble"


@dataclass(frozen=True)
class HelpButton(Callback, prefix="help"):
    """The button to a page of `/help`."""

    page: HelpPage

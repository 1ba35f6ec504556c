"""The buttons that support agents press.

They stand together, because the card of a ticket has buttons of lookups, reveals and saved replies.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from bot.core.locales import LOCALES
from bot.infra.telegram.ui.callbacks import Callback, Pattern

MAX_QUERY_BYTES: Final = 50
"""Maximum length of a lookup's query."""

NAME: Final = Pattern("[a-z0-9-]{1,20}")
TICKET: Final = Pattern("T-[0-9A-Z]{5}")


class StaffTicketAction(StrEnum):
    """What a support agent's button does with a ticket."""

    SHOW = "show"
    CLAIM = "claim"
    TAKE_OVER = "over"
    CLOSE = "close"
    CLOSE_AS = "closeas"
    REOPEN = "reopen"
    SEND_AGAIN = "again"
    REFRESH = "fresh"
    SEND_UNDECIDED = "send"
    KEEP_UNDECIDED = "keep"


@dataclass(frozen=True)
class StaffTicketButton(Callback, prefix="tk"):
    """A support agent's button about a ticket.

    `argument` is the reason for closing the ticket, the number of the reply to send again, the number of the newest
    message to decide about, or where to show the ticket.
    """

    ticket: Annotated[str, TICKET]
    action: StaffTicketAction
    argument: Annotated[str, Pattern("[a-z0-9_]{1,16}")] = ""


@dataclass(frozen=True)
class GroupLanguageButton(Callback, prefix="gl"):
    """A button that changes the language of the staff's group."""

    locale: Annotated[str, Pattern("|".join(LOCALES))]


class LookupPage(StrEnum):
    """What a button of a lookup shows."""

    ORDER = "order"
    EVIDENCE = "proof"
    SERVICE_ORDER = "svc"
    SERVICE_EVIDENCE = "svcproof"
    ORDERS_BY_FRAGMENT = "like"
    ORDERS_FOUND = "find"
    ORDERS_OF_USER = "orders"
    USER = "person"
    TICKETS_OF_USER = "matters"
    TICKETS = "tickets"


@dataclass(frozen=True)
class LookupButton(Callback, prefix="lu"):
    """A button to a page. `query` is a reference, an id, or the result of `format_page` or `format_search`."""

    page: LookupPage
    query: Annotated[str, Pattern(rf"[^\n]{{0,{MAX_QUERY_BYTES}}}")]


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


@dataclass(frozen=True)
class SavedRepliesForTicketButton(Callback, prefix="sa:list"):
    """A ticket's button that lists the saved replies for it, in a new message."""

    ticket: Annotated[str, TICKET]


@dataclass(frozen=True)
class OtherSavedRepliesButton(Callback, prefix="sa:back"):
    """A preview's button that lists the saved replies, in place of the preview."""

    ticket: Annotated[str, TICKET]


@dataclass(frozen=True)
class PreviewSavedReplyButton(Callback, prefix="sa:pick"):
    """A button that previews a saved reply for a ticket."""

    ticket: Annotated[str, TICKET]
    name: Annotated[str, NAME]


@dataclass(frozen=True)
class SendSavedReplyButton(Callback, prefix="sa:send"):
    """A preview's button that sends the saved reply. `text_hash` is of the previewed text."""

    ticket: Annotated[str, TICKET]
    name: Annotated[str, NAME]
    text_hash: Annotated[str, Pattern("[0-9a-f]{8}")]

"""Buttons of alarms, of lookups, which operators and support agents share, and of the audit log."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from bot.infra.telegram.ui.callbacks import Callback, Pattern


class AlarmAction(StrEnum):
    """What a button of an alarm does. Most take or resolve it, and update the message with the button."""

    STATUS = "status"
    OWN_ORDERS = "mine"
    TAKE_IN_ALARM = "take"
    TAKE_IN_STATUS = "take_all"
    TAKE_IN_REMINDER = "take_list"
    RESOLVE_IN_ALARM = "done"
    RESOLVE_IN_STATUS = "tick"
    RESOLVE_IN_REMINDER = "list"
    PAID_OUT = "paid_out"
    REFUNDED = "refunded"
    NOT_REFUNDED = "not_refunded"
    OTHERWISE = "otherwise"
    UNDO = "undo"


@dataclass(frozen=True)
class AlarmButton(Callback, prefix="al"):
    """A button about the alarm of this `AlarmKind` and subject. Both are empty if it is about all alarms."""

    action: AlarmAction
    kind: Annotated[str, Pattern("[a-z_]{1,20}")] = ""
    subject: Annotated[str, Pattern("[0-9A-Za-z]{0,16}")] = ""


MAX_QUERY_BYTES: Final = 50
"""Maximum length of a lookup's query."""


class LookupPage(StrEnum):
    """What a button of a lookup shows."""

    ORDER = "order"
    ORDER_OF_ALARM = "alarm"  # in a new message, so that the alarm stays
    TICKET = "ticket"  # in a new message
    TICKET_HERE = "again"  # in place of the pressed message
    EVIDENCE = "proof"
    FOUND = "find"
    ORDERS_OF_USER = "orders"
    USER = "person"
    TICKETS_OF_USER = "matters"
    TICKETS = "tickets"


@dataclass(frozen=True)
class LookupButton(Callback, prefix="lu"):
    """A button to a page. `query` is a reference, "@" and a service's id, a user's id, or the result of `format_page`.

    The pages of a search repeat what was typed.
    """

    page: LookupPage
    query: Annotated[str, Pattern(rf"[^\n]{{0,{MAX_QUERY_BYTES}}}")]


@dataclass(frozen=True)
class AuditPageButton(Callback, prefix="au:page"):
    """A button to the entries before the entry `before`, of the staff member with the id `actor`. Empty means all."""

    before: Annotated[str, Pattern("(?:[0-9T]{21,22}-[0-9a-f]{8})?")]
    actor: Annotated[str, Pattern("[0-9]{0,16}")]


@dataclass(frozen=True)
class AuditExportButton(Callback, prefix="au:export"):
    """A button that asks for the period of the file."""


@dataclass(frozen=True)
class AuditFileButton(Callback, prefix="au:csv"):
    """A button that sends the log as a file. `period` is one of `NAMED_SPANS`."""

    period: Annotated[str, Pattern("[a-z_]{1,12}")]

"""What stands in the callback data of support's buttons, and of a person's about their tickets.

`t:new`, `t:leave` and `t:<ticket>:<action>[:<argument>]` are a person's; `tk:<ticket>:<action>[:<argument>]` acts on a
ticket for support; `rv:<order>:<action>[:<argument>]` is about a full recipient, `lu:<list>:<query>` a page of
something looked up, `sa:<action>[:<argument>]` about saved answers and `au:<action>[:<argument>]` about the audit
trail. As everywhere, none of it is trusted: who presses, and where, is looked at anew each time.
"""

import re
from dataclasses import dataclass

TICKET_PATTERN = re.compile(r"^t:(T-[0-9A-Z]{5}):([a-z]{1,12})(?::([a-z0-9]{1,16}))?$")
NEW_TICKET = "t:new"
LEAVE = "t:leave"
STAFF_TICKET_PATTERN = re.compile(r"^tk:(T-[0-9A-Z]{5}):([a-z]{1,12})(?::(.{0,40}))?$")
REVEAL_PATTERN = re.compile(r"^rv:([0-9A-Z]{4,16}):([a-z]{1,12})(?::([a-z0-9]{1,16}))?$")
LOOKUP_PATTERN = re.compile(r"^lu:([a-z]{1,8}):(.{0,50})$")
SAVED_ANSWER_PATTERN = re.compile(r"^sa:([a-z]{1,12})(?::(.{0,45}))?$")
AUDIT_PATTERN = re.compile(r"^au:([a-z]{1,12})(?::(.{0,50}))?$")
CLAIM, TAKE_OVER, CLOSE, CLOSE_AS, REOPEN, ANSWER_AGAIN = "claim", "over", "close", "closeas", "reopen", "again"
"""What support does with a ticket by a button; `CLOSE_AS` bears the reason, `ANSWER_AGAIN` the entry's number."""

STAFFS_PATTERN = re.compile(r"^(?:tk|rv|lu|sa|au):")
"""Every button that only staff may press."""


@dataclass(frozen=True, slots=True)
class Press:
    """A button about something with a name: a ticket, an order."""

    name: str
    action: str
    argument: str = ""


def for_ticket(ticket: str, action: str, argument: str = "") -> str:
    """The data of a button of a person about their ticket."""
    return _joined("t", ticket, action, argument)


def for_staff(ticket: str, action: str, argument: str = "") -> str:
    """The data of a button of support's about a ticket."""
    return _joined("tk", ticket, action, argument)


def for_reveal(order: str, action: str, argument: str = "") -> str:
    """The data of a button about an order's full recipient."""
    return _joined("rv", order, action, argument)


def for_lookup(what: str, query: str) -> str:
    """The data of a button to a page of something looked up."""
    return f"lu:{what}:{query}"


def for_saved_answer(action: str, argument: str = "") -> str:
    """The data of a button about saved answers."""
    return _joined("sa", action, argument)


def for_audit(action: str, argument: str = "") -> str:
    """The data of a button about the audit trail."""
    return _joined("au", action, argument)


def read_ticket_press(data: str) -> Press | None:
    """What `for_ticket` wrote, or None."""
    return _press(TICKET_PATTERN, data)


def read_staff_press(data: str) -> Press | None:
    """What `for_staff` wrote, or None."""
    return _press(STAFF_TICKET_PATTERN, data)


def read_reveal_press(data: str) -> Press | None:
    """What `for_reveal` wrote, or None."""
    return _press(REVEAL_PATTERN, data)


def read_lookup_press(data: str) -> tuple[str, str]:
    """The list and the query that `for_lookup` wrote; both empty where it isn't one."""
    return _pair(LOOKUP_PATTERN, data)


def read_saved_answer_press(data: str) -> tuple[str, str]:
    """The action and the argument that `for_saved_answer` wrote; both empty where it isn't one."""
    return _pair(SAVED_ANSWER_PATTERN, data)


def read_audit_press(data: str) -> tuple[str, str]:
    """The action and the argument that `for_audit` wrote; both empty where it isn't one."""
    return _pair(AUDIT_PATTERN, data)


def _joined(*parts: str) -> str:
    return ":".join(parts if parts[-1] else parts[:-1])


def _press(pattern: re.Pattern[str], data: str) -> Press | None:
    match = pattern.match(data)
    return Press(match[1], match[2], match[3] or "") if match else None


def _pair(pattern: re.Pattern[str], data: str) -> tuple[str, str]:
    match = pattern.match(data)
    return (match[1], match[2] or "") if match else ("", "")

"""The report of a failed end-to-end test: the users' chats, the logs, and the orders of the service.

It is read from the sandbox's memory, since no event loop runs while pytest makes its report.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bot.sandbox.bot_api.box import KEPT_EVENTS

if TYPE_CHECKING:
    from tests.e2e.system import System

CHATS: Final = 8
MESSAGES: Final = 8
LINES: Final = 60
"""How many of the last ones are shown: chats, messages of a chat, lines of a log."""

Section = tuple[str, str]

_open: "list[System]" = []
_closed: list[Section] = []
_logs: list[Path] = []
_logged: Sequence[Mapping[str, Any]] = ()


def begins(logged: Sequence[Mapping[str, Any]]) -> None:
    """Leave out what happened before a test. `logged` is what the sandbox logs in this process from now on."""
    global _logged  # noqa: PLW0603
    _closed.clear()
    _logs.clear()
    _logged = logged


def opened(system: "System") -> None:
    """Include a system in the report."""
    _open.append(system)


def failed(system: "System") -> None:
    """Save the report of a system before an error closes it."""
    _closed.extend(_sections(system))


def closed(system: "System") -> None:
    """Leave a system out of the report."""
    _open.remove(system)


def started_program(log: Path) -> None:
    """Include the log of a program that a test has started."""
    _logs.append(log)


def logged() -> Sequence[Mapping[str, Any]]:
    """Return what this process has logged since the test began."""
    return _logged


def sections() -> list[Section]:
    """Return what to print below the error of the failed test."""
    found = [*_closed, *(section for system in _open for section in _sections(system))]
    found += [(f"Log of {log.name}", _end_of(log)) for log in _logs]
    found.append(("Sandbox's log", "\n".join(str(entry) for entry in _logged[-LINES:])))
    return [(title, text) for title, text in found if text]


def _sections(system: "System") -> Iterator[Section]:
    page: Any = system.addresses.page_app
    service: Any = system.addresses.service_app
    box = page.state.box
    events = box.events.since(max(0, box.events.seq - KEPT_EVENTS))
    latest = {event["chat_id"]: event["seq"] for event in events if event.get("chat_id")}
    for chat_id in sorted(latest, key=lambda each: -latest[each])[:CHATS]:
        messages = sorted(box.world.messages.get(chat_id, {}).items())[-MESSAGES:]
        yield f"Chat {chat_id}", "\n".join(_view(message.as_client_json()) for _, message in messages)
    yield "Bot's log", _end_of(system.log)
    yield "Orders", "\n".join(f"{each.id}: {each.state}" for each in service.state.service.book.newest_of_all(CHATS))


def _view(message: dict[str, Any]) -> str:
    rows = (message.get("reply_markup") or {}).get("inline_keyboard", [])
    buttons = [button["text"] for row in rows for button in row]
    return f"{message['from']['first_name']}: {message.get('text') or message.get('caption')} {buttons}"


def _end_of(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-LINES:]) if log.exists() else ""

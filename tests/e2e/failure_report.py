"""The report of a failed end-to-end test: the users' chats, the bot's log, and the service's journal.

It begins where the test began, also in a shared system, and shows the last part. It is read from the sandbox's memory,
since no event loop runs while pytest makes its report.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.sandbox.bot_api.box import KEPT_EVENTS

if TYPE_CHECKING:
    from bot.sandbox.bot_api.box import Sandbox
    from bot.sandbox.settlement import Service
    from tests.e2e.system import System

CHATS, MESSAGES, LINES = 8, 8, 60
"""How many of the last ones are shown: chats, messages of a chat, lines of a log."""

LONGEST_TEXT, LONGEST_LINE = 600, 240
INVOICE = re.compile(r"\b(ln\w{12})\w{40,}")

Section = tuple[str, str]


@dataclass
class Start:
    """Where a system was when the test began: the numbers of the last event, call and request, and the log's length."""

    event: int = 0
    call: int = 0
    request: int = 0
    log: int = 0


@dataclass
class Story:
    """What belongs to the current test."""

    systems: "dict[System, Start]" = field(default_factory=dict)
    closed: list[Section] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)
    """Of programs that the test has started itself."""

    logged: Sequence[Mapping[str, Any]] = ()
    """By the sandbox, in this process."""


_open: "list[System]" = []
_now = Story()


def begins(logged: Sequence[Mapping[str, Any]]) -> None:
    """Save where all open systems are when a test begins. `logged` is what the sandbox logs from now on."""
    _now.systems = {system: _start_of(system) for system in _open}
    _now.closed, _now.logs, _now.logged = [], [], logged


def opened(system: "System") -> None:
    """Include a system in the report."""
    _open.append(system)
    _now.systems[system] = Start()


def failed(system: "System", error: BaseException) -> None:
    """Save the report of a system before an error closes it."""
    _now.closed += _sections(system, _now.systems.get(system, Start()), error)


def closed(system: "System") -> None:
    """Leave a system out of the report."""
    _open.remove(system)
    _now.systems.pop(system, None)


def started_program(log: Path) -> None:
    """Include this log in the report."""
    _now.logs.append(log)


def logged() -> Sequence[Mapping[str, Any]]:
    """Return what this process has logged since the test began."""
    return _now.logged


def sections(error: BaseException | None = None) -> list[Section]:
    """Return what to print below the error of the failed test."""
    found = list(_now.closed)
    for system, start in _now.systems.items():
        if _box(system).events.seq > start.event:
            found += _sections(system, start, error)
    for log in _now.logs:
        if log.exists():
            found.append((f"Log of {log.name}", "\n".join(_last(_log_lines(_read(log, 0)), LINES))))
    logged = [" ".join(f"{name}={value}" for name, value in entry.items()) for entry in _now.logged]
    found.append(("Sandbox's log", "\n".join(_last(logged, LINES))))
    return [(title, text) for title, text in found if text]


def _start_of(system: "System") -> Start:
    box = _box(system)
    log = system.log.stat().st_size if system.log.exists() else 0
    return Start(box.events.seq, box.call_count, int(str(_service(system).requests.as_json()["total"])), log)


def _sections(system: "System", start: Start, error: BaseException | None) -> Iterator[Section]:
    yield from _chats(_box(system), start, getattr(error, "chat_id", None))
    yield "Bot's log", "\n".join(_last(_log_lines(_read(system.log, start.log)), LINES))
    yield "Telegram's journal", "\n".join(_telegram(_box(system), start))
    yield "Settlement service's journal", "\n".join(_settlement(_service(system), start))


def _box(system: "System") -> "Sandbox":
    app: Any = system.addresses.page_app
    box: Sandbox = app.state.box
    return box


def _service(system: "System") -> "Service":
    app: Any = system.addresses.service_app
    service: Service = app.state.service
    return service


def _chats(box: "Sandbox", start: Start, waited_in: int | None) -> Iterator[Section]:
    """Return the chats in which something happened: first the one in which the test waited, then the latest."""
    since = max(start.event, box.events.seq - KEPT_EVENTS)
    newest = {event["chat_id"]: event["seq"] for event in box.events.since(since) if event.get("chat_id")}
    latest_first = sorted(newest, key=lambda chat_id: (chat_id == waited_in, newest[chat_id]), reverse=True)
    for chat_id in latest_first[:CHATS]:
        messages = [message for _, message in sorted(box.world.messages.get(chat_id, {}).items())]
        views = [_message(message.as_client_json()) for message in messages]
        yield _title(box, chat_id), "\n".join(_last(views, MESSAGES))
    if len(latest_first) > CHATS:
        yield "Other chats", f"{len(latest_first) - CHATS} more in which something happened earlier"


def _title(box: "Sandbox", chat_id: int) -> str:
    user = box.world.people.get(chat_id)
    if user is None:
        return f"Chat {chat_id} ({box.world.chats[chat_id].title})"
    return f"Chat {chat_id} ({user.first_name}, app in {user.language_code or 'no language'})"


def _message(view: dict[str, Any]) -> str:
    sender = "bot" if view["from"]["is_bot"] else str(view["from"]["id"])
    kind = next((f"[{name}] " for name in ("photo", "document", "sticker") if name in view), "")
    words = view.get("text") or view.get("caption") or ""
    text = _cut(INVOICE.sub(r"\1…", words), LONGEST_TEXT).replace("\n", "\n    ")
    rows = (view.get("reply_markup") or {}).get("inline_keyboard", [])
    buttons = "".join("\n    " + " ".join(_button(button) for button in row) for row in rows)
    reactions = " ".join(view["sandbox"]["reactions"])
    return f"{view['message_id']} {sender}: {kind}{text}{buttons}" + (f"\n    reactions: {reactions}" * bool(reactions))


def _button(button: dict[str, Any]) -> str:
    leads_to = button.get("callback_data") or button.get("url") or "copies"
    return f"[{button['text']} → {leads_to}]"


def _read(log: Path, after: int) -> str:
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(after)
        return file.read().decode(errors="replace")


def _log_lines(text: str) -> list[str]:
    """Write each event in one line. Other lines, such as a traceback, aren't changed."""
    return [_cut(_log_line(line), LONGEST_LINE) for line in text.splitlines()]


def _log_line(line: str) -> str:
    try:
        event = dict(json.loads(line))
    except (ValueError, TypeError):
        return line
    at, level, name = (str(event.pop(key, "")) for key in ("timestamp", "level", "event"))
    facts = " ".join(f"{key}={value}" for key, value in event.items())
    return f"{at[11:23]} {level:7} {name} {facts}".rstrip()


def _telegram(box: "Sandbox", start: Start) -> Iterator[str]:
    """Say how often the bot called each method, which calls failed, and which faults are switched on."""
    calls = [call for call in box.calls if call["seq"] > start.call]
    counted = Counter(call["method"] for call in calls)
    yield "calls: " + ", ".join(f"{method} {count}" for method, count in counted.most_common())
    failures = (
        f"failed: {each['method']} to {each['chat_id']}: {each['error_code']}" for each in calls if not each["ok"]
    )
    yield from _last(_together(failures), LINES // 2)
    yield from (f"fault: {_facts(vars(fault))}" for fault in box.faults.on)


def _settlement(service: "Service", start: Start) -> Iterator[str]:
    """List the requests, the faults that are switched on, and the newest orders."""
    journal: Any = service.requests.as_json()
    new = journal["recent"][: journal["total"] - start.request]
    requests = (f"{each['method']} {each['path']} → {each['status']}" for each in reversed(new))
    yield from _last(_together(requests), LINES)
    yield from (f"fault: {_facts(fault)}" for fault in service.faults.as_json())
    for order in service.book.newest_of_all(CHATS):
        way = " → ".join(order.reached)
        yield f"order {order.id}: {order.state} ({way}), Rp{order.idr_amount}, {order.sat_amount} sats, {order.channel}"


def _facts(fault: Any) -> str:
    return " ".join(f"{name}={value}" for name, value in fault.items() if value is not None)


def _together(lines: Iterable[str]) -> list[str]:
    """Join equal consecutive lines into one, with their number."""
    counted = ((line, len(list(same))) for line, same in groupby(lines))
    return [line if count == 1 else f"{line} ({count} times)" for line, count in counted]


def _last(parts: list[str], count: int) -> list[str]:
    return [f"({len(parts) - count} earlier ones left out)", *parts[-count:]] if len(parts) > count else parts


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"

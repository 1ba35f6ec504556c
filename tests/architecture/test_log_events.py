"""Names of log events, which operators search for."""

import re

from tests.architecture.log_events import log_events
from tests.architecture.source import BOT

NAME = re.compile(r"[a-z]+(?:_[a-z]+)+")
LOGGER = "log = structlog.get_logger(__name__)"


def test_events_are_named_after_an_object_and_what_happened_to_it() -> None:
    events = log_events()
    assert [name for name in events if not NAME.fullmatch(name)] == []
    assert {"bot_started", "message_attempt_failed", "worker_failed"} <= events.keys()


def test_every_logger_is_called_log_so_that_its_events_are_found() -> None:
    loggers = [
        f"{path.relative_to(BOT)}: {line}"
        for path in sorted(BOT.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if "structlog.get_logger(" in line
    ]
    assert loggers
    assert [line for line in loggers if not line.endswith(f": {LOGGER}")] == []

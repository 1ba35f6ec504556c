"""Which events the code logs."""

import re
from typing import Final

from tests.architecture.source import ROOT, paths

CALL: Final = re.compile(
    r"\blog\.(?:debug|info|warning|error|exception)\(\s*(?:#[^\n]*\s*)?(?:\"(?P<event>[^\"{]*)\")?"
)


def log_events() -> dict[str, set[str]]:
    """Return the places of each event that the bot and its tools log, by its name; the sandbox's are left out.

    Raises:
        ValueError: an event's name is not a literal, so it can't be found in the source.
    """
    found: dict[str, set[str]] = {}
    for path in paths():
        text = (ROOT / path).read_text("utf-8")
        for call in CALL.finditer(text):
            place = f"{path}:{text.count(chr(10), 0, call.start()) + 1}"
            if call["event"] is None:
                raise ValueError(f"{place}: write the event's name as a literal")
            found.setdefault(call["event"], set()).add(place)
    return found

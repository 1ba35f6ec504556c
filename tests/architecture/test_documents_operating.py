"""The documents for operators and the code agree: setup, runbook, handbook and reference."""

import re
from typing import TYPE_CHECKING, cast

import httpx
from typer.main import get_command

from bot.__main__ import cli
from bot.app import build_declared
from bot.home.command_menus import collect_menus
from bot.infra.http.health import Health, create_health_app
from bot.infra.metrics import LoopLag
from bot.infra.watchdog import ProcessState
from tests.architecture.documents import DOCUMENTS, check_listed, rows
from tests.architecture.source import ROOT, paths

if TYPE_CHECKING:
    from bot.infra.db.database import Database

CALL = re.compile(r"\blog\.(?:debug|info|warning|error|exception)\(\s*(?:#[^\n]*\s*)?(?:\"(?P<event>[^\"{]*)\")?")
ROUTES = [routes for feature in build_declared().features for routes in feature.routes]
COMMANDS_IN_TELEGRAM = {name for names in collect_menus(ROUTES).values() for name in names}
PATHS = {"data", "healthz", "livez", "mcp", "metrics", "p", "readyz"}
"""What is written in code like a command and is a path."""

IN_NO_MENU = {"id"}
"""A command for the people who set up the bot."""

OF_BOTFATHER = {"newbot", "revoke", "setinline", "setinlinefeedback", "setuserpic"}


def _commands() -> set[str]:
    """Return the commands of `kirim`, those of `keys` with its name before them."""
    found = set()
    for name, command in get_command(cli).commands.items():  # type: ignore[attr-defined]
        found |= {f"{name} {each}" for each in getattr(command, "commands", ())} or {name}
    return found


def test_every_command_of_the_program_is_listed_and_no_other() -> None:
    listed = [first.strip("`").removeprefix("kirim ").partition(" --")[0] for first, _ in rows("commands")]
    check_listed("commands", listed, _commands())


def test_every_command_in_telegram_is_listed_and_no_other() -> None:
    listed = [first.strip("`").removeprefix("/") for first, *_ in rows("telegram-commands")]
    check_listed("telegram-commands", set(listed), COMMANDS_IN_TELEGRAM)


def test_commands_in_telegram_that_the_documents_mention_exist() -> None:
    for path, text in DOCUMENTS.items():
        mentioned = set(re.findall(r"`/([a-z]+)\b(?!/)", text))
        unknown = mentioned - PATHS - OF_BOTFATHER - IN_NO_MENU - COMMANDS_IN_TELEGRAM
        assert not unknown, f"{path.name}: no command has these names. If one is a path, add it to PATHS in {__file__}"


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


def test_every_log_event_is_listed_and_no_other() -> None:
    check_listed("log-events", (first.strip("`") for first, *_ in rows("log-events")), log_events())


class _Database:
    """A database that answers."""

    async def has_usable_tables(self) -> bool:
        return True


async def test_the_pages_of_health_are_answered_as_the_documents_show_them() -> None:
    state = ProcessState(are_workers_alive=lambda: True, are_leases_kept=lambda: True)
    health = Health(cast("Database", _Database()), state, LoopLag())
    transport = httpx.ASGITransport(create_health_app(health))
    documented = {(page, int(answer[:3])): answer for page, answer, _ in rows("health") if page.startswith("bot:")}
    async with httpx.AsyncClient(transport=transport, base_url="http://bot.example") as browser:
        for path in ("/livez", "/readyz", "/healthz"):
            well = await browser.get(path)
            answer = documented.pop((f"bot: `GET {path}`", 200))
            assert answer.startswith(f'200, `{{"status": "{well.json()["status"]}"')
            assert set(re.findall(r'"(\w+)":', answer)) == set(well.json())
        state.are_workers_alive = lambda: False
        for path in ("/readyz", "/healthz"):
            ill = await browser.get(path)
            answer = documented.pop((f"bot: `GET {path}`", 503))
            assert answer == f'503, `{{"status": "{ill.json()["status"]}", …}}`'
    assert [path for path, _ in documented] == ["bot: `GET /livez`"]
